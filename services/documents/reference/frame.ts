import { type Markup, markup } from '../../../platform/markup.ts';
import { TABS } from '../../navigation.ts';

interface ReferencePage {
  /** The last part of its address; empty for the overview. */
  name: string;
  summary: string;
  /** Links to the parts of the page. */
  links: readonly Markup[];
  content: Markup;
}

const ABBREVIATIONS: Readonly<Record<string, string>> = { a2a: 'A2A', mcp: 'MCP' };

/** The title of a page. */
const toTitle = (name: string): string =>
  ABBREVIATIONS[name] ?? name.replace(/^./, (first) => first.toUpperCase());

/** What the instance says on each page of the reference. */
export interface Site {
  siteName: string;
  /** A line above the page; '' for none. */
  notice: string;
}

/** What each page of the reference has around its content; `names` are those of all its pages. */
export function createFrame(names: readonly string[], { siteName, notice }: Site) {
  return ({ name, summary, links, content }: ReferencePage): string => {
    const entry = (page: string, title: string) =>
      markup`<li><a href="/docs${page && `/${page}`}"${
        page === name ? markup` aria-current="page"` : undefined
      }>${title}</a></li>\n`;
    const tab = ([, href, word]: (typeof TABS)[number]) =>
      markup`<li><a href="${href}" data-word="${word}">${word}</a></li>\n`;
    return markup`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${summary}">
<title>${name && `${toTitle(name)} · `}API reference</title>
<link rel="icon" href="/favicon.ico">
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
${notice ? markup`<aside class="sandbox" aria-label="Sandbox">${notice}</aside>\n` : undefined}<a class="button skip visually-hidden" href="#content">Skip to the content</a>
<header class="bar">
<div class="bar-inner">
<a class="home" href="/"><bdi>${siteName}</bdi></a>
<div class="membership"><a href="/me">Your account</a></div>
<nav class="tabs" aria-label="Site"><ul>
${TABS.map(tab)}</ul></nav>
</div>
</header>
<div class="reference">
<nav class="contents" aria-label="API reference">
<ul class="pages">${entry('', 'Overview')}${names.map((each) => entry(each, toTitle(each)))}</ul>
${
  links.length > 0
    ? markup`<details open><summary>On this page</summary>
<ul class="parts">${links.map((link) => markup`<li>${link}</li>\n`)}</ul></details>`
    : undefined
}</nav>
<main id="content" tabindex="-1">
<h1>${name ? toTitle(name) : 'API reference'}</h1>
<p>${summary}</p>
${content}
</main>
</div>
</body>
</html>
`.html;
  };
}
