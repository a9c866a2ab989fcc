const LINE_BREAKS = /\r\n|[\r\v\f\u0085]/g;
// Control characters but tab and line feed, and halves of a surrogate pair.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters in question
const REFUSED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Cs}/gu;

/** Writes every line break as a line feed: CR LF, CR, and VT, FF and NEL, which slides and PDFs use. */
export const withLineFeeds = (text: string): string => text.replace(LINE_BREAKS, '\n');

/** Removes the characters that the service refuses in any text: control characters, half emoji. */
export const withoutRefused = (text: string): string => text.replace(REFUSED, '');

/** The text before the first character that the service refuses; undefined if there is none. */
export function beforeRefused(text: string): string | undefined {
  const at = text.search(REFUSED);
  return at < 0 ? undefined : text.slice(0, at);
}
