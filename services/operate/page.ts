import { byteUnits } from '../../platform/byte-units.ts';
import { join, Markup, markup, type Part } from '../../platform/markup.ts';
import type { Fact, Figure, Report, Section, Table } from './report.ts';
import { STYLE } from './style.ts';

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

function bytesText(bytes: number): string {
  const { value, unit } = byteUnits(bytes);
  return `${number.format(value < 10 ? Math.round(10 * value) / 10 : Math.round(value))} ${unit}`;
}

/** A figure as HTML. A time says how long before the report it was. */
function figureHtml(figure: Figure, at: Date): Part {
  if (figure === null) return '–';
  if (typeof figure === 'boolean') return figure ? 'yes' : 'no';
  if (typeof figure === 'number') return number.format(figure);
  if (typeof figure === 'string') return figure;
  if (figure instanceof Date) {
    const age = (at.getTime() - figure.getTime()) / 1000;
    const ago = age < 1 ? 'now' : `${spanText(age)} ago`;
    return markup`<time datetime="${figure.toISOString()}">${day.format(figure)} UTC</time>, ${ago}`;
  }
  if ('id' in figure) return figure.id;
  if ('about' in figure) return `about ${number.format(figure.about)}`;
  if ('bytes' in figure) return bytesText(figure.bytes);
  if ('seconds' in figure) return spanText(figure.seconds);
  return figure.more ? `more than ${number.format(figure.count)}` : number.format(figure.count);
}

const factsHtml = (facts: readonly Fact[], at: Date): Part =>
  facts.length === 0
    ? undefined
    : markup`<dl>${facts.map(
        ([, label, figure]) => markup`<dt>${label}</dt><dd>${figureHtml(figure, at)}</dd>`,
      )}</dl>\n`;

function tableHtml(section: string, { name, title, columns, rows }: Table, at: Date): Markup {
  const id = `${section}-${name}`;
  const head = columns.map(([, label]) => markup`<th scope="col">${label}</th>`);
  const body = rows.map(([first, ...cells]) => {
    const others = cells.map((cell) => markup`<td>${figureHtml(cell, at)}</td>`);
    return markup`<tr><th scope="row">${figureHtml(first ?? null, at)}</th>${others}</tr>`;
  });
  if (rows.length === 0) return markup`<p class="hint">${title}: none</p>\n`;
  return markup`<div class="scroll" role="region" aria-labelledby="${id}" tabindex="0"><table>
<caption id="${id}">${title}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${join(body, '\n')}
</tbody></table></div>
`;
}

function sectionHtml(section: Section, at: Date): Markup {
  const { name, title, facts = [], tables = [], hints = [], unread } = section;
  const content =
    unread === undefined
      ? [factsHtml(facts, at), tables.map((table) => tableHtml(name, table, at))]
      : markup`<p>Not read: ${unread}</p>\n`;
  return markup`<section id="${name}" aria-labelledby="${name}-title">
<h2 id="${name}-title">${title}</h2>
${content}${hints.map((hint) => markup`<p class="hint">${hint}</p>\n`)}</section>
`;
}

function warningsHtml(sections: readonly Section[]): Part {
  const items = sections.flatMap(({ name, warnings = [] }) =>
    warnings.map((text) => markup`<li><a href="#${name}">${text}</a></li>`),
  );
  return items.length === 0
    ? undefined
    : markup`<div class="warnings" role="region" aria-labelledby="warnings">
<h2 id="warnings">To look at</h2>
<ul>${join(items, '\n')}</ul>
</div>
`;
}

/** The report as a page, without a script and without anything to load. */
export function pageHtml({ at, process, sections }: Report): string {
  const links = sections.map(({ name, title }) => markup`<li><a href="#${name}">${title}</a></li>`);
  return markup`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Operate: ${process}</title>
<link rel="icon" href="data:,">
<style>${new Markup(STYLE)}</style>
</head>
<body>
<header>
<h1>Operate</h1>
<p>As a ${process} process saw it at <time datetime="${at.toISOString()}">${day.format(at)} UTC</time>.
“About” marks an estimate of PostgreSQL. Nothing here changes anything. <a href="/operate">Look again</a></p>
<nav aria-label="Sections"><ul>${join(links, '\n')}</ul></nav>
</header>
<main>
${warningsHtml(sections)}${sections.map((section) => sectionHtml(section, at))}</main>
<footer><p>npm run doctor checks what the service relies on. The same as JSON: Accept: application/json.</p></footer>
</body>
</html>
`.html;
}
