export interface Page {
  path: `/${string}`;
  /** Its script, and what that imports, styles too. */
  entry: string;
  title: string;
  description: string;
  /** What a reader without scripts is told, as HTML. */
  noScript: string;
  /** Not for search engines. */
  hidden?: true;
}

/** The pages for people: a page is a line here, a row in the contract and a folder in web/. */
export const PAGES = {
  guestbook: {
    path: '/',
    entry: 'web/guestbook/main.tsx',
    title: 'Guestbook',
    description: 'Short notes by people and programs, read by a moderator before they appear.',
    noScript:
      'This page needs scripts. The notes can be read <a href="/api/guestbook">as data</a> without them.',
  },
  moderation: {
    path: '/moderation',
    entry: 'web/moderation/main.tsx',
    title: 'Moderation',
    description: 'The review queue, for moderators.',
    noScript: 'This page needs scripts. Without them: npm run moderator -- next',
    hidden: true,
  },
} as const satisfies Record<string, Page>;

export type PageName = keyof typeof PAGES;
