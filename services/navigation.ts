/** The tabs of every page. */
export const TABS = [
  ['guestbook', '/', 'Guestbook'],
  ['cases', '/cases', 'Cases'],
  ['packets', '/packets', 'Packets'],
  ['members', '/members', 'Members'],
  ['activity', '/activity', 'Activity'],
  ['search', '/search', 'Search'],
] as const;

/** The links at the foot of every page of the site. */
export const FOOT = [
  ['/about', 'About and policy'],
  ['/transparency', 'Transparency'],
  ['/developers', 'For developers'],
  ['/docs', 'API'],
  ['/for-agents', 'For agents'],
  ['/api/v1/status', 'Status (JSON)'],
] as const;

/** Address of a feed: its path without suffix, and maybe a query, with the suffix of a format. */
export function feedPath(feed: string, format: 'atom' | 'json'): string {
  const [path = '', query] = feed.split('?');
  return `${path}.${format}${query ? `?${query}` : ''}`;
}

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
