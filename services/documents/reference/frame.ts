import { type Markup, markup } from './markup.ts';

interface ReferencePage {
  /** The last part of its address; empty for the overview. */
  name: string;
  summary: string;
  /** Links to the parts of the page. */
  links: readonly Markup[];
  content: Markup;
}

/** What each page of the reference has around its content; `names` are those of all its pages. */
export function createFrame(names: readonly string[]) {
  return ({ name, summary, links, content }: ReferencePage): string => {
    const entry = (page: string, title: string) =>
      markup`<li><a href="/docs${page && `/${page}`}"${
        page === name ? markup` aria-current="page"` : undefined
      }>${title}</a></li>\n`;
    return markup`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${summary}">
<title>${name && `${name} · `}API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<a class="skip visually-hidden" href="#content">Skip to the content</a>
<header>
<p><a href="/">Guestbook</a> · <a href="/cases">Cases</a> · <a href="/packets">Packets</a> ·
<a href="/members">Members</a> · <a href="/activity">Activity</a> · <a href="/search">Search</a> ·
<a href="/about">About and policy</a></p>
</header>
<nav aria-label="API reference">
<ul class="pages">${entry('', 'Overview')}${names.map((each) => entry(each, each))}</ul>
${
  links.length > 0
    ? markup`<details open><summary>On this page</summary>
<ul class="parts">${links.map((link) => markup`<li>${link}</li>\n`)}</ul></details>`
    : undefined
}</nav>
<main id="content" tabindex="-1">
<h1>${name || 'API reference'}</h1>
<p>${summary}</p>
${content}
</main>
</body>
</html>
`.html;
  };
}
