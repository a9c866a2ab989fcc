import { LinkifyIt } from 'linkify-it';
import { countSpans, type LocatedFinding } from '../../domain/screening/rules.ts';
import { type Span, spansOf } from '../../domain/screening/trace.ts';
import { hasMixedScripts } from './characters.ts';

const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyIP: true, urlAuth: true });

const MANY_LINKS = 3;
// 9 to 15 digits in common groupings, except dates and ISBNs; other lengths are not phone numbers.
const PHONE =
  /(?<![\p{L}\p{N}.,/:-])(?!97[89][ -]|(?:19|20)\d\d-\d\d-)\+?\(?\p{Nd}(?:[ .()-]{0,2}\p{Nd}){8,14}(?![\p{L}\p{N}/:-])/gu;
// Only known tags: people also write addresses and emotes in angle brackets.
const MARKUP =
  /<\/?(?:a|b|i|u|p|br|hr|em|div|img|span|font|h[1-6]|center|strong|script|style|iframe|form|input|table|t[dr]|[uo]l|li|link|meta|object|embed|svg|video|html|body)(?:[\s/][^<>]{0,200})?>|\[\/?(?:url|img|link|b|i|u|color|size|quote|email)(?:=[^[\]]{0,200})?\]/gi;
const NUMERIC_HOST = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])$/;

/** Findings that lead a reader elsewhere: links, e-mail addresses, phone numbers and markup. */
export function contactFindings(text: string): LocatedFinding[] {
  const addresses = (linkify.match(text) ?? []).map(({ index, lastIndex, schema, url }) => ({
    span: [index, lastIndex] as const,
    isEmail: schema === 'mailto:',
    shown: text.slice(index, lastIndex),
    url: parse(url),
  }));
  const links = addresses.filter(({ isEmail }) => !isEmail);
  const spans = (kind: readonly { span: Span }[]) => kind.map(({ span }) => span);
  // Digits inside a link are not a phone number.
  const rest = addresses.reduce(
    (left, { shown, span: [start, end] }) =>
      left.slice(0, start) + ' '.repeat(shown.length) + left.slice(end),
    text,
  );
  return [
    countSpans(links.length >= MANY_LINKS ? 'many_links' : 'links', spans(links)),
    countSpans(
      'link_to_number',
      spans(links.filter(({ url }) => NUMERIC_HOST.test(url?.hostname ?? ''))),
    ),
    countSpans('link_look_alike', spans(links.filter(({ shown, url }) => deceives(shown, url)))),
    countSpans(
      'link_with_credentials',
      spans(links.filter(({ url }) => url?.username || url?.password)),
    ),
    countSpans('email', spans(addresses.filter(({ isEmail }) => isEmail))),
    countSpans('phone', spansOf(rest, PHONE)),
    countSpans('markup', spansOf(text, MARKUP)),
  ].filter((finding) => finding.count > 0);
}

/** Whether the link has a punycode host or mixes scripts whose letters look alike. */
function deceives(shown: string, url: URL | null): boolean {
  if (!url) return false;
  return /(?:^|[./@])xn--/i.test(shown) || shown.split(/[./:@-]/).some(hasMixedScripts);
}

function parse(url: string): URL | null {
  return URL.parse(url.startsWith('//') ? `http:${url}` : url);
}
