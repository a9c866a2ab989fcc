export interface Page {
  path: `/${string}`;
  /** The script of the page; the bundle includes its imports and styles. */
  entry: string;
  title: string;
  description: string;
  /** HTML that a browser without scripts shows. */
  noScript: string;
  /** Excludes the page from search engines. */
  hidden?: true;
}

/** The pages for people. A page is an entry here, a row in the contract and a folder in web/. */
export const PAGES = {
  guestbook: {
    path: '/',
    entry: 'web/guestbook/main.tsx',
    title: 'Guestbook',
    description: 'Short notes by people and programs, reviewed by a moderator before they appear.',
    noScript:
      'This page needs JavaScript. Without it, you can read the notes <a href="/api/guestbook">as JSON</a>.',
  },
  moderation: {
    path: '/moderation',
    entry: 'web/moderation/main.tsx',
    title: 'Moderation',
    description: 'The review queue, for moderators.',
    noScript:
      'This page needs JavaScript. Without it, use the command line: npm run moderator -- next',
    hidden: true,
  },
} as const satisfies Record<string, Page>;

export type PageName = keyof typeof PAGES;
