/** Scripts that are the script of one language in almost all texts of today. */
const LANGUAGES = {
  Hangul: 'ko',
  Thai: 'th',
  Lao: 'lo',
  Khmer: 'km',
  Hebrew: 'he',
  Greek: 'el',
  Armenian: 'hy',
  Georgian: 'ka',
  Tamil: 'ta',
  Telugu: 'te',
  Kannada: 'kn',
  Malayalam: 'ml',
  Gujarati: 'gu',
  Gurmukhi: 'pa',
  Sinhala: 'si',
  Oriya: 'or',
  // Several languages share these, so the tag names the script and leaves the language undetermined.
  Arabic: 'und-Arab',
  Cyrillic: 'und-Cyrl',
  Devanagari: 'und-Deva',
  Bengali: 'und-Beng',
  Myanmar: 'und-Mymr',
  Ethiopic: 'und-Ethi',
  Tibetan: 'und-Tibt',
  Mongolian: 'und-Mong',
} as const;

const scripts = Object.entries(LANGUAGES).map(
  ([script, language]) => [language, new RegExp(`\\p{Script=${script}}`, 'gu')] as const,
);
const LETTERS = /\p{L}/gu;
const HAN = /\p{Script=Han}/gu;
const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const NOT_LATIN = /[^\p{Script=Latin}\P{L}]/u;

/** The beginning of a text decides, in UTF-16 code units. */
const SAMPLE = 300;
/** One letter is more often a symbol or a face. */
const MIN_LETTERS = 2;
/** A character of these scripts says about as much as two letters of an alphabet. */
const CJK_WEIGHT = 2;
/** So many Han characters without kana are Chinese; a name or title of fewer may be Japanese. */
const MIN_CHINESE = 12;

/**
 * The language of a text as far as its script proves it, as a BCP 47 tag; undefined if most letters
 * are Latin or of mixed scripts. The Latin script says nothing: such a text inherits the language of the page,
 * which is the likeliest one. An empty `lang` would let screen readers change the voice for each text.
 */
export function languageOf(text: string): string | undefined {
  const sample = text.slice(0, SAMPLE);
  if (!NOT_LATIN.test(sample)) return undefined;
  const count = (pattern: RegExp) => sample.match(pattern)?.length ?? 0;
  const [letters, han, kana] = [count(LETTERS), count(HAN), count(KANA)];
  const isMost = (found: number, weight = 1) =>
    found >= MIN_LETTERS && found * weight > letters - found;
  if (kana > 0 && isMost(kana + han, CJK_WEIGHT)) return 'ja';
  const [found] = scripts.filter(([language, pattern]) => {
    const own = count(pattern);
    return language === 'ko' ? isMost(own > 0 ? own + han : 0, CJK_WEIGHT) : isMost(own);
  });
  if (found) return found[0];
  if (isMost(han, CJK_WEIGHT)) return han < MIN_CHINESE ? 'und-Hani' : 'zh';
  return undefined;
}
