/**
 * Where an address may begin: not within a word, nor behind another scheme. It ends at white space, at what
 * no address has, and at characters that nothing shows.
 */
const CANDIDATES =
  /(?<![\p{L}\p{N}_.:/@+-])https?:\/\/(?:(?!\p{Default_Ignorable_Code_Point})[^\s<>"“”„«»`\\^{|}。、，；])+/giu;

/** Punctuation at the end of an address, which belongs to the sentence around it. */
const TRAILING = /[.,:;!?'’…。、，；：！？*_~]+$/u;

const PAIRS = { ')': '(', ']': '[', '）': '（', '】': '【', '」': '「' } as const;

const count = (text: string, letter: string): number => text.split(letter).length - 1;

/** Cuts off punctuation, and closing brackets that open before the address. */
function cutTrailing(text: string): string {
  for (let left = text; ; ) {
    const cut = left.replace(TRAILING, '');
    const last = cut.at(-1) as keyof typeof PAIRS | undefined;
    const opens = last && PAIRS[last];
    const shorter = opens && count(cut, last) > count(cut, opens) ? cut.slice(0, -1) : cut;
    if (shorter === left) return left;
    left = shorter;
  }
}

/** Hosts in ASCII alone: letters of other scripts can look like them, and `xn--` hides such letters. */
const PLAIN_HOST =
  /^https?:\/\/(?!(?:[^/?#]*\.)?xn--)[a-z0-9.-]+\.[a-z0-9-]+\.?(?::\d{1,5})?(?:[/?#]|$)/i;

/** The address as the text has it, if it is one that leads where it says. */
function toHref(text: string): string | undefined {
  if (!PLAIN_HOST.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, username, password, href } = new URL(text);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  return isWeb && !username && !password ? href : undefined;
}

export interface Link {
  start: number;
  end: number;
  href: string;
}

/** The web addresses in a text, in the order in which they stand in it. */
export function findLinks(text: string): Link[] {
  return [...text.matchAll(CANDIDATES)].flatMap(({ 0: found, index }) => {
    const shown = cutTrailing(found);
    const href = toHref(shown);
    return href ? [{ start: index, end: index + shown.length, href }] : [];
  });
}
