import type { Fact, Figure, Report, Section, Table } from './report.ts';
import { STYLE } from './style.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escapeText = (text: string): string =>
  text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '');

const number = new Intl.NumberFormat('en');
const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

const SPANS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const;

/** A span of time in words, such as `3 hours`. */
function spanText(seconds: number): string {
  const [size, unit] = SPANS.find(([most]) => seconds >= most) ?? [1, 'second'];
  const count = Math.floor(seconds / size);
  return `${number.format(count)} ${unit}${count === 1 ? '' : 's'}`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** step;
  return `${number.format(value < 10 ? Math.round(10 * value) / 10 : Math.round(value))} ${UNITS[step]}`;
}

/** A figure as HTML. A time says how long before the report it was. */
function figureHtml(figure: Figure, at: Date): string {
  if (figure === null) return '–';
  if (typeof figure === 'boolean') return figure ? 'yes' : 'no';
  if (typeof figure === 'number') return number.format(figure);
  if (typeof figure === 'string') return escapeText(figure);
  if (figure instanceof Date) {
    const age = (at.getTime() - figure.getTime()) / 1000;
    const ago = age < 1 ? 'now' : `${spanText(age)} ago`;
    return `<time datetime="${figure.toISOString()}">${day.format(figure)} UTC</time>, ${ago}`;
  }
  if ('id' in figure) return String(figure.id);
  if ('about' in figure) return `about ${number.format(figure.about)}`;
  if ('bytes' in figure) return bytesText(figure.bytes);
  if ('seconds' in figure) return spanText(figure.seconds);
  return figure.more ? `more than ${number.format(figure.count)}` : number.format(figure.count);
}

const factsHtml = (facts: readonly Fact[], at: Date): string =>
  facts.length === 0
    ? ''
    : `<dl>${facts
        .map(
          ([, label, figure]) => `<dt>${escapeText(label)}</dt><dd>${figureHtml(figure, at)}</dd>`,
        )
        .join('')}</dl>\n`;

function tableHtml(section: string, { name, title, columns, rows }: Table, at: Date): string {
  const id = `${section}-${name}`;
  const head = columns.map(([, label]) => `<th scope="col">${escapeText(label)}</th>`).join('');
  const body = rows
    .map(([first, ...cells]) => {
      const others = cells.map((cell) => `<td>${figureHtml(cell, at)}</td>`).join('');
      return `<tr><th scope="row">${figureHtml(first ?? null, at)}</th>${others}</tr>`;
    })
    .join('\n');
  if (rows.length === 0) return `<p class="hint">${escapeText(title)}: none</p>\n`;
  return `<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${escapeText(title)}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}
</tbody></table></div>
`;
}

const hintsHtml = (hints: readonly string[]): string =>
  hints.map((hint) => `<p class="hint">${escapeText(hint)}</p>\n`).join('');

function sectionHtml(section: Section, at: Date): string {
  const { name, title, facts = [], tables = [], hints = [], unread } = section;
  const content =
    unread === undefined
      ? factsHtml(facts, at) + tables.map((table) => tableHtml(name, table, at)).join('')
      : `<p>Not read: ${escapeText(unread)}</p>\n`;
  return `<section id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${escapeText(title)}</h2>
${content}${hintsHtml(hints)}</section>
`;
}

function warningsHtml(sections: readonly Section[]): string {
  const items = sections.flatMap(({ name, warnings = [] }) =>
    warnings.map((text) => `<li><a href="#${name}">${escapeText(text)}</a></li>`),
  );
  return items.length === 0
    ? ''
    : `<div class="warnings" role="region" aria-labelledby="warnings">
<h2 id="warnings">To look at</h2>
<ul>${items.join('\n')}</ul>
</div>
`;
}

/** The report as a page, without a script and without anything to load. */
export function pageHtml({ at, process, sections }: Report): string {
  const links = sections
    .map(({ name, title }) => `<li><a href="#${name}">${escapeText(title)}</a></li>`)
    .join('\n');
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Operate: ${escapeText(process)}</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>Operate</h1>
<p>As a ${escapeText(process)} process saw it at <time datetime="${at.toISOString()}">${day.format(at)} UTC</time>.
“About” marks an estimate of PostgreSQL. Nothing here changes anything. <a href="/operate">Look again</a></p>
<nav aria-label="Sections"><ul>${links}</ul></nav>
</header>
<main>
${warningsHtml(sections)}${sections.map((section) => sectionHtml(section, at)).join('')}</main>
<footer><p>npm run doctor checks what the service relies on. The same as JSON: Accept: application/json.</p></footer>
</body>
</html>
`;
}
