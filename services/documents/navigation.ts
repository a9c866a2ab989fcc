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
