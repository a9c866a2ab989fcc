/** HTML that needs no further escaping. `markup` escapes every other text that it is given. */
export class Markup {
  readonly html: string;
  constructor(html: string) {
    this.html = html;
  }
}

export type Part = Markup | string | number | undefined | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Builds HTML from a template. Attribute values must be in double quotes. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(String.raw({ raw: strings }, ...parts.map(toHtml)));
}

function toHtml(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Markup) return part.html;
  if (typeof part === 'object') return part.map(toHtml).join('');
  return String(part).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

export function join(parts: readonly Part[], separator: string): Markup {
  return markup`${parts.map((part, index) => (index === 0 ? part : [separator, part]))}`;
}

/** Text in which backticks mark code. */
export function inline(text: string): Part {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part : markup`<code>${part}</code>`));
}

/** Text whose paragraphs are separated by empty lines. */
export function paragraphs(text: string): Part {
  return text.split('\n\n').map((paragraph) => markup`<p>${inline(paragraph)}</p>\n`);
}

export const json = (value: unknown): Markup =>
  markup`<pre><code>${JSON.stringify(value, null, 2)}</code></pre>`;
