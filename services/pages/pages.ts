export interface BrowserPage {
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

/**
 * The pages that are built in the browser alone. Each is an entry here, a row in the contract and a
 * folder in web/.
 */
export const PAGES = {
  moderation: {
    path: '/moderation',
    entry: 'web/console/main.tsx',
    title: 'Moderation',
    description: 'The review queue, for moderators.',
    noScript:
      'This page needs JavaScript. Without it, use the command line: npm run moderator -- next',
    hidden: true,
  },
} as const satisfies Record<string, BrowserPage>;

export type PageName = keyof typeof PAGES;
