import { countSpans, type LocatedFinding } from '../../domain/screening/rules.ts';
import { spansOf } from '../../domain/screening/trace.ts';

// Scripts with letters that look alike. Other scripts are mixed in legitimate words ("Tシャツ"),
// or do not resemble another script.
const LOOK_ALIKES = [
  /\p{sc=Latin}/u,
  /\p{sc=Cyrillic}/u,
  /\p{sc=Greek}/u,
  /\p{sc=Armenian}/u,
  /\p{sc=Cherokee}/u,
  /\p{sc=Coptic}/u,
  /\p{sc=Lisu}/u,
];
const LETTERS = /[\p{L}\p{M}\p{Cf}]+/gu;

const EMBEDDING = /[\u202A-\u202E\u2066-\u2069]/g;
const DIRECTION_MARK = /[\u200E\u200F\u061C]/g;
const RIGHT_TO_LEFT = /[\p{sc=Hebr}\p{sc=Arab}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}\p{sc=Adlm}]/u;

// Default-ignorable and private-use characters, without the direction controls above, the joiners,
// separators and tags below, and variation selectors.
const INVISIBLE =
  /[[\p{DI}--[\u061C\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2066-\u2069\uFE00-\uFE0F\u{E0000}-\u{E007F}\u{E0100}-\u{E01EF}]]\p{Co}]/gv;
// Joiners are legitimate in emoji and in joining scripts; elsewhere they are invisible.
const STRAY_JOINER =
  /(?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|[[\p{L}\p{M}]--[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Inherited}]])[\u200C\u200D]/gv;
// Separators are legitimate in scripts without spaces and in Mongolian.
const STRAY_SEPARATOR =
  /(?<![\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}])\u200B|(?<![\p{sc=Mong}\p{Variation_Selector}])\u180E/gu;
// Tags are legitimate after a black flag, where they encode the flag of a region.
const STRAY_TAG = /(?<![\u{1F3F4}\u{E0020}-\u{E007F}])[\u{E0000}-\u{E007F}]+/gu;
// With the letter, because a quote of the marks alone shows nothing that a reader can recognize.
const STACKED = /[^\p{M}\s]?\p{Mn}{4,}/gu;
// Mathematical alphabets, enclosed and full-width Latin letters, and small capitals.
const STYLED =
  /[\u{1D400}-\u{1D7CB}\u{1F110}-\u{1F189}\u24B6-\u24E9\uFF21-\uFF3A\uFF41-\uFF5A\u1D00-\u1D2B]/gu;

export function hasMixedScripts(word: string): boolean {
  return LOOK_ALIKES.filter((script) => script.test(word)).length > 1;
}

/** Findings about characters that a reader does not see or takes for other characters. */
export function characterFindings(text: string): LocatedFinding[] {
  const mixed = spansOf(text, LETTERS).filter((span) => hasMixedScripts(text.slice(...span)));
  const marks = RIGHT_TO_LEFT.test(text) ? [] : spansOf(text, DIRECTION_MARK);
  const invisible = [INVISIBLE, STRAY_JOINER, STRAY_SEPARATOR, STRAY_TAG].flatMap((kind) =>
    spansOf(text, kind),
  );
  const styled = spansOf(text, STYLED);
  return [
    countSpans('mixed_scripts', mixed),
    countSpans('direction', [...spansOf(text, EMBEDDING), ...marks]),
    countSpans('invisible', invisible),
    countSpans('stacked_marks', spansOf(text, STACKED)),
    countSpans('styled_letters', styled.length < 4 ? [] : styled),
  ].filter((finding) => finding.count > 0);
}
