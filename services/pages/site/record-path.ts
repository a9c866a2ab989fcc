const PATHS: Readonly<Record<string, string>> = {
  note: '/notes/',
  artifact: '/packets/',
  case: '/cases/',
};

/** Path of the page of a record. That of a member depends on the handle, if it is public. */
export function recordPath(
  { kind, id }: { kind: string; id: string },
  people: Readonly<Record<string, { href?: string | undefined }>>,
): string | undefined {
  const path = PATHS[kind];
  return path ? path + id : people[id]?.href;
}
