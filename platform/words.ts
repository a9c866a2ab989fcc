/**
 * How a text is split into words for the search: the same on every server, whatever the locale of its
 * database. The rules are in docs/reference/agent-protocols.md; a change of them, or of the Unicode
 * data of Node.js, needs the rows of the search to be written again (test/unit/words.test.ts).
 */
export interface Word {
  /** Folded: without case, width and accents. */
  readonly text: string;
  /** The place in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** Belongs to a script without spaces: two characters, or the last one of its run. */
  readonly part?: true;
}

/** Longer words are cut: a lexeme of PostgreSQL has less than 2,048 bytes. */
const MAX_WORD_LENGTH = 64;

/**
 * A character with its marks, or a syllable of jamo: what composes to one character or few. Further
 * marks begin another cluster, because to normalize marks takes the square of their number.
 */
const CLUSTER =
  /(?:[\u1100-\u115f\ua960-\ua97c]{1,64}[\u1160-\u11a7\ud7b0-\ud7c6]{0,64}[\u11a8-\u11ff\ud7cb-\ud7fb]{0,64}|\P{M})?[\p{M}\uff9e\uff9f]{0,64}/suy;

/** Accents, Hebrew points, Arabic vowel signs, the Arabic tatweel, and what is never drawn. */
const DROPPED =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]|\p{Default_Ignorable_Code_Point}/gu;

/** Letters that are variants of others, but do not decompose. */
const VARIANTS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  þ: 'th',
  ς: 'σ',
};
const VARIANT = new RegExp(`[${Object.keys(VARIANTS).join('')}]`, 'gu');

const IN_WORD = /[\p{L}\p{N}\p{M}]/u;

/** Scripts that do not, or not always, separate words by spaces. */
const UNSPACED =
  /[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Bopomofo}\p{Script_Extensions=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Tham}\p{Script=Yi}]/u;

/** Removes case, width and accents from a character with its marks. */
const fold = (cluster: string): string =>
  cluster
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(DROPPED, '')
    .normalize('NFKC')
    .replaceAll(VARIANT, (letter: string) => VARIANTS[letter] as string);

type Kind = 'separator' | 'spaced' | 'unspaced';
type Folded = readonly (readonly [character: string, kind: Kind])[];

const kindOf = (character: string): Kind => {
  if (!IN_WORD.test(character)) return 'separator';
  return UNSPACED.test(character) ? 'unspaced' : 'spaced';
};

/** Texts use few different characters, and to fold one takes a microsecond. */
const folded = new Map<string, Folded>();
const MAX_FOLDED = 10_000;
/** Longer clusters, such as hundreds of marks on a letter, are not kept: they would fill the memory. */
const MAX_KEPT_LENGTH = 8;

function foldCluster(cluster: string): Folded {
  const known = folded.get(cluster);
  if (known) return known;
  const made = [...fold(cluster)].map((character) => [character, kindOf(character)] as const);
  if (cluster.length <= MAX_KEPT_LENGTH) {
    if (folded.size >= MAX_FOLDED) folded.clear();
    folded.set(cluster, made);
  }
  return made;
}

/** Where the character at a place ends, with its marks. No mark is below U+0300. */
function endOfCluster(text: string, start: number): number {
  if (text.charCodeAt(start) < 0x300 && !(text.charCodeAt(start + 1) >= 0x300)) return start + 1;
  CLUSTER.lastIndex = start;
  return start + Math.max(1, CLUSTER.exec(text)?.[0].length ?? 0);
}

interface Letter {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Splits a text into its words, in order. A run of an unspaced script becomes overlapping pairs. */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  let run: Letter[] = [];
  let runKind: Kind = 'separator';
  const endRun = () => {
    if (run.length > 0) words.push(...(runKind === 'unspaced' ? toPairs(run) : [toWord(run)]));
    run = [];
  };
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = endOfCluster(text, start);
    for (const [character, kind] of foldCluster(text.slice(start, end))) {
      if (kind !== runKind) endRun();
      runKind = kind;
      if (kind !== 'separator') run.push({ text: character, start, end });
    }
  }
  endRun();
  return words;
}

function toWord(run: readonly Letter[]): Word {
  const text = run.slice(0, MAX_WORD_LENGTH).map((letter) => letter.text);
  return { text: text.join(''), ...spanOf(run) };
}

/** `abc` becomes `ab`, `bc` and `c`, so that each part of a run is a sequence of pairs. */
function toPairs(run: readonly Letter[]): Word[] {
  return run.map((_, at) => {
    const pair = run.slice(at, at + 2);
    return { text: pair.map((one) => one.text).join(''), ...spanOf(pair), part: true };
  });
}

const spanOf = (run: readonly Letter[]) => ({
  start: run[0]?.start ?? 0,
  end: run.at(-1)?.end ?? 0,
});

/** Consecutive words. `prefix`: the last one only begins the word that is found. */
export interface Phrase {
  readonly words: readonly string[];
  readonly prefix: boolean;
}

/** What a record must contain, all of it, and what it must not. */
export interface Alternative {
  readonly all: readonly Phrase[];
  readonly none: readonly Phrase[];
}

const TERM = /(-?)"([^"]*)"?|(\S+)/gu;

/**
 * Reads a query: all words must be found, `or` separates alternatives, `-word` excludes, and words in
 * quotes follow each other. Punctuation is ignored, so that `@handle` and `"word"` mean the word.
 */
export function parseQuery(query: string): Alternative[] {
  const alternatives: { all: Phrase[]; none: Phrase[] }[] = [{ all: [], none: [] }];
  for (const [, minus, quoted, bare = ''] of query
    .replaceAll(/[“”„‟«»〝〞＂]/gu, '"')
    .replaceAll(/(?<=[^\s"-])"(?=[^\s"])/gu, ' ')
    .matchAll(TERM)) {
    if (/^or$/i.test(bare)) {
      alternatives.push({ all: [], none: [] });
      continue;
    }
    const phrase = toPhrase(quoted ?? bare.replaceAll('"', ' '));
    const excludes = minus === '-' || /^-[^-]/.test(bare);
    if (phrase) alternatives.at(-1)?.[excludes ? 'none' : 'all'].push(phrase);
  }
  return alternatives.filter(({ all, none }) => all.length + none.length > 0);
}

/** Of a run of pairs at the end, the last character alone only repeats what the pair before says. */
function toPhrase(text: string): Phrase | undefined {
  const words = splitWords(text);
  const last = words.at(-1);
  if (!last) return undefined;
  const before = words.at(-2);
  const repeats = last.part && before?.part && [...before.text].length > 1;
  const kept = repeats ? words.slice(0, -1) : words;
  return { words: kept.map((word) => word.text), prefix: last.part === true && !repeats };
}

/** A part of a text: its start and its end, in UTF-16 code units. */
export type TextPart = readonly [start: number, end: number];

/** Finds where a text has the words that a query asks for. Parts that touch are joined. */
export function findWords(text: string, query: readonly Alternative[]): TextPart[] {
  const words = splitWords(text);
  const { byWord, byStart } = toPhrases(query);
  const hits: TextPart[] = [];
  for (const [at, first] of words.entries()) {
    const start = byStart.size > 0 ? String.fromCodePoint(first.text.codePointAt(0) ?? 0) : '';
    for (const phrase of [...(byWord.get(first.text) ?? []), ...(byStart.get(start) ?? [])]) {
      if (!matchesAt(words, at, phrase)) continue;
      const last = words[at + phrase.words.length - 1] ?? first;
      // A single character is found as the first one of a pair.
      hits.push([first.start, phrase.prefix ? endOfCluster(text, last.start) : last.end]);
    }
  }
  return joinParts(hits.sort(([one], [other]) => one - other));
}

/**
 * The phrases of a query, each once, by their first word; and those that are only the first character
 * of a word, by this character. A query may repeat a word a hundred times, and a text has thousands.
 */
function toPhrases(query: readonly Alternative[]) {
  const phrases = new Map(
    query.flatMap(({ all }) => all).map((phrase) => [JSON.stringify(phrase), phrase]),
  );
  const byFirst = (isStart: boolean) =>
    Map.groupBy(
      [...phrases.values()].filter(
        ({ words, prefix }) => (prefix && words.length === 1) === isStart,
      ),
      ({ words: [first = ''] }) => first,
    );
  return { byWord: byFirst(false), byStart: byFirst(true) };
}

function matchesAt(words: readonly Word[], at: number, phrase: Phrase): boolean {
  return phrase.words.every((word, index) => {
    const found = words[at + index]?.text;
    const isLast = index === phrase.words.length - 1;
    return isLast && phrase.prefix ? found?.startsWith(word) : found === word;
  });
}

function joinParts(parts: readonly TextPart[]): TextPart[] {
  const joined: [number, number][] = [];
  for (const [start, end] of parts) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}
