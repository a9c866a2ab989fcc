import { splitAtInvisible } from '../../../platform/visible-text.ts';
import { foreign } from '../../shared/text.tsx';
import { findHits, splitAtParts, type TextPart } from './hits.ts';

/** Short names of invisible and direction-changing characters. Others show their code point. */
const NAMES: Record<string, readonly [string, string]> = {
  '\u00ad': ['SHY', 'soft hyphen'],
  '\u061c': ['ALM', 'Arabic letter mark'],
  '\u200b': ['ZWSP', 'zero width space'],
  '\u200c': ['ZWNJ', 'zero width non-joiner'],
  '\u200d': ['ZWJ', 'zero width joiner'],
  '\u200e': ['LRM', 'left-to-right mark'],
  '\u200f': ['RLM', 'right-to-left mark'],
  '\u202a': ['LRE', 'left-to-right embedding'],
  '\u202b': ['RLE', 'right-to-left embedding'],
  '\u202c': ['PDF', 'end of embedding'],
  '\u202d': ['LRO', 'left-to-right override'],
  '\u202e': ['RLO', 'right-to-left override'],
  '\u2060': ['WJ', 'word joiner'],
  '\u2066': ['LRI', 'left-to-right isolate'],
  '\u2067': ['RLI', 'right-to-left isolate'],
  '\u2068': ['FSI', 'first strong isolate'],
  '\u2069': ['PDI', 'end of isolate'],
  '\ufeff': ['BOM', 'byte order mark'],
};

// Shown as they are, but marked where no script or emoji needs them.
const JOINED =
  '(?<!\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\uFE0F|\\p{Script=Arabic}|\\p{Script=Devanagari}|\\p{Script=Bengali}|\\p{Script=Tamil}|\\p{Script=Telugu}|\\p{Script=Kannada}|\\p{Script=Malayalam}|\\p{Script=Gujarati}|\\p{Script=Sinhala}|\\p{M})[\\u200C\\u200D]';
const SELECTED =
  '(?<!\\p{Extended_Pictographic}|[0-9#*](?=[\\uFE0E\\uFE0F]\\u20E3))[\\uFE0E\\uFE0F]';
const OTHER_SELECTED =
  '(?<!\\p{Script=Mongolian}|\\p{Script=Han})(?![\\uFE0E\\uFE0F])\\p{Variation_Selector}';
const BREAKING =
  '(?<!\\p{Script=Thai}|\\p{Script=Lao}|\\p{Script=Khmer}|\\p{Script=Myanmar}|\\p{M})\\u200B';
const SEPARATING = '(?<!\\p{Script=Mongolian}|\\p{M})\\u180E';
const OF_NO_SCRIPT = [JOINED, SELECTED, OTHER_SELECTED, BREAKING, SEPARATING];
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}/u;
const DIRECTION = /[\u200e\u200f\u061c]/;
const OTHER_HIDDEN = '[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u2028\\u2029\\u2800]|\\p{Co}';

const marked = (...kinds: string[]) => new RegExp(`(${kinds.join('|')})`, 'u');
const MARKED_IN_RTL = marked(...OF_NO_SCRIPT, OTHER_HIDDEN);
const MARKED = marked(...OF_NO_SCRIPT, DIRECTION.source, OTHER_HIDDEN);

interface Mark {
  short: string;
  name: string;
}

type Piece = string | Mark;

/**
 * A part of a text as pages show it, with a mark for each character that they do not show, and for
 * those that no script or emoji of the text needs.
 */
function markedPieces(part: string, text = part): Piece[] {
  const kinds = RIGHT_TO_LEFT.test(text) ? MARKED_IN_RTL : MARKED;
  return splitAtInvisible(part)
    .flatMap((shown, index) => (index % 2 ? [toMark(shown)] : withMarks(shown, kinds)))
    .filter((piece) => piece !== '');
}

// A direction mark stays beside its mark, because it orders the characters around it on pages.
const withMarks = (text: string, kinds: RegExp): Piece[] =>
  text
    .split(kinds)
    .flatMap((part, index) =>
      index % 2 ? [DIRECTION.test(part) ? part : '', toMark(part)] : [part],
    );

/** The text for announcements, without marks, which would drown out the words. */
export const plainText = (text: string): string =>
  markedPieces(text)
    .filter((piece) => typeof piece === 'string')
    .join('');

function toMark(character: string): Mark {
  const number = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const [short, name] = NAMES[character] ?? [`U+${number}`, `character U+${number}`];
  return { short, name };
}

interface MarkedTextProps {
  text: string;
  class?: string;
  /** A search, whose hits are highlighted. */
  query?: string;
  /** The parts that findings refer to, with the texts of the findings. */
  found?: readonly FoundPart[];
}

export interface FoundPart {
  part: TextPart;
  finding: string;
}

/**
 * Text by another person, rendered as plain text. `bdi` isolates its direction from the text around
 * it, and invisible characters are marked.
 */
export function MarkedText({ text, class: name = '', query = '', found = [] }: MarkedTextProps) {
  const hits = findHits(text, query);
  const parts = splitAtParts(text, [...hits, ...found.map(({ part }) => part)]);
  return (
    <bdi {...foreign(text)} class={`foreign ${name}`}>
      {parts.map(([start, end]) => {
        const within = ([from, to]: TextPart) => from <= start && end <= to;
        const findings = found.filter(({ part }) => within(part)).map(({ finding }) => finding);
        const elements = toElements(text.slice(start, end), text);
        if (findings.length === 0)
          return hits.some(within) ? <mark key={start}>{elements}</mark> : elements;
        return (
          <mark
            key={start}
            class={hits.some(within) ? 'found hit' : 'found'}
            title={[...new Set(findings)].join('; ')}
          >
            {elements}
          </mark>
        );
      })}
    </bdi>
  );
}

const toElements = (part: string, text: string) =>
  markedPieces(part, text).map((piece, index) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      <span key={index} class="mark" role="img" aria-label={piece.name} title={piece.name}>
        {piece.short}
      </span>
    ),
  );
