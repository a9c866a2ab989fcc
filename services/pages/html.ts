import type { BrowserPage } from './pages.ts';

// A circle with a dot in its centre. An address has no spaces.
export const ICON =
  "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2016%2016'%3E%3Ccircle%20cx='8'%20cy='8'%20r='6.5'%20fill='none'%20stroke='%23b4532a'%20stroke-width='2'/%3E%3Ccircle%20cx='8'%20cy='8'%20r='2.5'%20fill='%23b4532a'/%3E%3C/svg%3E";

/** The HTML document of a page. Its texts are constants of this code, so they need no escaping. */
export function html(page: BrowserPage, script: string, style: string): string {
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
<body>
<div id="page"></div>
<noscript><p class="no-script">${page.noScript}</p></noscript>
</body>
</html>
`;
}
