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

/** A circle with a dot in its centre. */
export const ICON_SVG =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><circle cx='8' cy='8' r='6.5' fill='none' stroke='#b4532a' stroke-width='2'/><circle cx='8' cy='8' r='2.5' fill='#b4532a'/></svg>";

/** The icon as an address, which has no spaces. */
export const ICON = `data:image/svg+xml,${ICON_SVG.replace(
  /[ <>#]/g,
  (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
)}`;

/**
 * The HTML document of a page, with a notice above it if there is one. Its texts are constants of this code, so they
 * need no escaping.
 */
export function html(page: BrowserPage, script: string, style: string, notice = ''): string {
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${page.description}">${page.hidden ? '\n<meta name="robots" content="noindex">' : ''}
<title>${page.title}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/assets/styles/${style}">
<script type="module" src="/assets/scripts/${script}"></script>
</head>
<body>${notice && `\n<aside class="sandbox" aria-label="Sandbox">${notice}</aside>`}
<div id="page"></div>
<noscript><p class="no-script">${page.noScript}</p></noscript>
</body>
</html>
`;
}
