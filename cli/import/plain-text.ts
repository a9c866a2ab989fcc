import { Parser } from 'htmlparser2';

/** Elements whose content is no text of the comment. */
const HIDDEN = new Set(['script', 'style', 'template', 'head', 'title', 'iframe', 'object', 'svg']);
const BLOCKS = new Set([
  'p',
  'div',
  'blockquote',
  'pre',
  'ul',
  'ol',
  'table',
  'h1',
  'h2',
  'h3',
  'h4',
]);
const LINES = new Set(['br', 'li', 'tr', 'hr', 'h5', 'h6', 'dt', 'dd']);
/** The deepest nesting that is read: no comment that a person wrote has more. */
const MAX_DEPTH = 200;

/**
 * The text of an HTML fragment: paragraphs and line breaks stay, and a link is followed by its address
 * unless it is the same. Scripts and styles are left out.
 */
export function toPlainText(html: string): string {
  let text = '';
  let hidden = 0;
  let depth = 0;
  const links: { href: string; from: number }[] = [];
  const breakLine = (lines: 1 | 2) => {
    text += '\n'.repeat(lines);
  };
  const parser = new Parser({
    onopentag(name, { href = '' }) {
      depth += 1;
      if (HIDDEN.has(name)) hidden += 1;
      if (BLOCKS.has(name)) breakLine(2);
      if (LINES.has(name)) breakLine(1);
      if (name === 'a') links.push({ href, from: text.length });
    },
    ontext(part) {
      if (hidden === 0 && depth < MAX_DEPTH) text += part;
    },
    onclosetag(name) {
      depth -= 1;
      if (HIDDEN.has(name)) hidden -= 1;
      if (BLOCKS.has(name)) breakLine(2);
      if (name !== 'a') return;
      const link = links.pop();
      if (!link || !/^https?:\/\//i.test(link.href)) return;
      const said = text.slice(link.from).trim();
      if (said !== link.href && hidden === 0) text += said ? ` (${link.href})` : link.href;
    },
  });
  parser.end(html);
  return text;
}
