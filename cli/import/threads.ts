/** A comment of a file, as far as its place in a thread goes. */
export interface Threaded {
  ref: string;
  parent: string | null;
  /** Whether it becomes a note; replies to one that does not move up. */
  imported: boolean;
}

/** Where a comment is put, and why that is another place than in the source. */
export interface Place<Of> {
  /** The top-level comment that it replies to; null for a top-level one. */
  root: Of | null;
  moved: 'folded' | 'parent missing' | 'circle' | null;
}

/**
 * Folds threads of any depth to one level of replies: a reply to a reply becomes a reply to the top-level
 * comment. Replies whose parents are missing or are not imported move up, to the top if need be; so do
 * comments that are their own ancestors. Takes time in proportion to the number of comments.
 */
export function foldThreads<Of extends Threaded>(comments: Iterable<Of>): Map<Of, Place<Of>> {
  const byRef = new Map<string, Of>();
  for (const comment of comments) byRef.set(comment.ref, comment);
  /** The topmost imported comment of each comment's ancestry, itself included; or null. */
  const tops = new Map<Of, Of | null>();
  const inCircle = new Set<Of>();
  for (const comment of byRef.values()) resolveTop(comment, byRef, tops, inCircle);
  const places = new Map<Of, Place<Of>>();
  for (const comment of byRef.values()) {
    if (!comment.imported) continue;
    if (comment.parent === null) places.set(comment, { root: null, moved: null });
    else if (inCircle.has(comment)) places.set(comment, { root: null, moved: 'circle' });
    else {
      const parent = byRef.get(comment.parent);
      const root = (parent && tops.get(parent)) ?? null;
      if (root === null) places.set(comment, { root, moved: 'parent missing' });
      else places.set(comment, { root, moved: root === parent ? null : 'folded' });
    }
  }
  return places;
}

function resolveTop<Of extends Threaded>(
  start: Of,
  byRef: ReadonlyMap<string, Of>,
  tops: Map<Of, Of | null>,
  inCircle: Set<Of>,
): void {
  const path: Of[] = [];
  const onPath = new Set<Of>();
  let at: Of | undefined = start;
  while (at && !tops.has(at) && !onPath.has(at)) {
    path.push(at);
    onPath.add(at);
    at = at.parent === null ? undefined : byRef.get(at.parent);
  }
  if (at && onPath.has(at))
    for (const member of path.slice(path.indexOf(at))) {
      inCircle.add(member);
      tops.set(member, member.imported ? member : null);
    }
  for (const comment of path.reverse()) {
    if (tops.has(comment)) continue;
    const parent = comment.parent === null ? undefined : byRef.get(comment.parent);
    const above = (parent && tops.get(parent)) ?? null;
    tops.set(comment, above ?? (comment.imported ? comment : null));
  }
}
