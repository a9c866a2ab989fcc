import { hash } from 'node:crypto';
import type { ImportSource } from '../../domain/guestbook/words.ts';
import { READERS, type SourceComment, UnreadableExport } from './source.ts';
import type { Spool, Spooled } from './spool.ts';
import type { Threaded } from './threads.ts';
import { sourceKey, toNote } from './to-note.ts';

/** The most comments of one file: memory has about 3 KB of each. */
export const MAX_COMMENTS = 300_000;

/** A comment that becomes a note, or one that does not but may have replies. */
export interface Collected extends Threaded {
  /** What the report calls it. */
  label: string;
  sourceKey: string;
  writtenAt: number;
  published: boolean;
  /** Where its name and text are; null if it does not become a note. */
  spooled: Spooled | null;
}

export interface Findings {
  shortened(label: string, parts: readonly string[]): void;
  refused(label: string, reason: string): void;
}

export interface CollectOptions {
  source: ImportSource;
  path: string;
  /** What tells two sites of one program apart. */
  site: string;
  /** Only the comments on this page. */
  thread: string | undefined;
  /** The present, in milliseconds of Unix time. */
  now: number;
}

/** Reads all comments of an export and applies the limits of notes. Throws `UnreadableExport`. */
export async function collectComments(
  { source, path, site, thread, now }: CollectOptions,
  spool: Spool,
  findings: Findings,
): Promise<Collected[]> {
  const read = await READERS[source]();
  const collected = new Map<string, Collected>();
  for await (const comment of read(path)) {
    if (thread !== undefined && comment.thread !== thread) continue;
    const ref = short(comment.ref);
    const label = labelOf(comment);
    if (collected.has(ref)) {
      findings.refused(label, 'its id is that of an earlier comment of the file');
      continue;
    }
    if (collected.size === MAX_COMMENTS)
      throw new UnreadableExport(`the file has more than ${MAX_COMMENTS} comments`);
    const converted = toNote(comment, now);
    const refused = 'refused' in converted;
    if (refused) findings.refused(label, converted.refused);
    else if (converted.shortened.length > 0) findings.shortened(label, converted.shortened);
    collected.set(ref, {
      ref,
      parent: comment.parent === null ? null : short(comment.parent),
      label,
      imported: !refused,
      sourceKey: sourceKey(source, site, comment),
      writtenAt: comment.writtenAt,
      published: comment.state === 'published',
      spooled: refused ? null : spool.add(converted.note),
    });
  }
  return [...collected.values()];
}

/** Ids are hostile: a long one is kept as its hash. A short one never equals a hash, which is longer. */
const short = (ref: string): string => (ref.length <= 40 ? ref : hash('sha256', ref));

/** A copy: a slice would keep the whole id in memory. */
const labelOf = ({ ref }: SourceComment): string =>
  ref.length <= 40 ? ref : Buffer.from(`${ref.slice(0, 40)}…`).toString();
