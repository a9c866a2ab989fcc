import { LinkifyIt } from 'linkify-it';
import { hasMixedScripts } from './characters.ts';
import type { Finding } from './rules.ts';

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
export function contactFindings(text: string): Finding[] {
  const matches = linkify.match(text) ?? [];
  const links = matches.filter(({ schema }) => schema !== 'mailto:');
  const addresses = links.map(({ text: shown, url }) => ({ shown, url: parse(url) }));
  const hosts = addresses.map(({ url }) => url?.hostname ?? '');
  // Digits inside a link are not a phone number.
  const rest = matches.reduceRight(
    (left, { index, lastIndex }) => `${left.slice(0, index)} ${left.slice(lastIndex)}`,
    text,
  );
  const many = links.length >= MANY_LINKS;
  return [
    { code: many ? ('many_links' as const) : ('links' as const), count: links.length },
    { code: 'link_to_number' as const, count: hosts.filter((h) => NUMERIC_HOST.test(h)).length },
    {
      code: 'link_look_alike' as const,
      count: addresses.filter(({ shown, url }) => deceives(shown, url)).length,
    },
    {
      code: 'link_with_credentials' as const,
      count: addresses.filter(({ url }) => url?.username || url?.password).length,
    },
    { code: 'email' as const, count: matches.length - links.length },
    { code: 'phone' as const, count: rest.match(PHONE)?.length ?? 0 },
    { code: 'markup' as const, count: text.match(MARKUP)?.length ?? 0 },
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
