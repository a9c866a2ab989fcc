import { type Alternative, type Phrase, parseQuery, splitWords } from './words.ts';

/** A distance between two texts of a record that no phrase spans. */
const GAP = 10;

/**
 * The words of a record's texts as a value of the type tsvector; null if the texts were erased. Words
 * are letters, numbers and marks only, so they need no escape.
 */
export function toVector(texts: readonly (string | null | undefined)[]): string | null {
  if (texts.every((text) => text === null || text === undefined)) return null;
  const lexemes: string[] = [];
  let position = 0;
  for (const text of texts) {
    for (const { text: word } of splitWords(text ?? '')) lexemes.push(`'${word}':${++position}`);
    position += GAP;
  }
  return lexemes.join(' ');
}

export interface SearchQuery {
  /** Reads a handle, if the query is nothing else. */
  readonly handle: string;
  readonly alternatives: readonly Alternative[];
  /** As a tsquery. */
  readonly matches: string;
  /**
   * As a tsquery that the index answers without the rows: all words in any order. Null if records
   * match that have none of the words.
   */
  readonly candidates: string | null;
}

export function toSearchQuery(query: string): SearchQuery {
  const alternatives = parseQuery(query);
  const anyOf = (each: (alternative: Alternative) => string) =>
    alternatives.map((alternative) => `(${each(alternative)})`).join(' | ');
  return {
    handle: /^[\s"@]*([A-Za-z0-9_]+)[\s"]*$/.exec(query)?.[1]?.toLowerCase() ?? '',
    alternatives,
    matches: anyOf(({ all, none }) =>
      [
        ...all.map((phrase) => `(${toLexemes(phrase).join(' <-> ')})`),
        ...none.map((phrase) => `!(${toLexemes(phrase).join(' <-> ')})`),
      ].join(' & '),
    ),
    candidates: alternatives.every(({ all }) => all.length > 0)
      ? anyOf(({ all }) => [...new Set(all.flatMap(toLexemes))].join(' & '))
      : null,
  };
}

const toLexemes = ({ words, prefix }: Phrase): string[] =>
  words.map((word, at) => `'${word}'${prefix && at === words.length - 1 ? ':*' : ''}`);
