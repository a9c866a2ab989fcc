import type { Finding, FindingCode } from '../../domain/screening/rules.ts';
import { fold } from './folded.ts';

type Say = (count: number, words: readonly string[]) => string;

const counted =
  (one: string, more: string): Say =>
  (count) =>
    `${count} ${count === 1 ? one : more}`;

/** Counting notes with the same text stops at this number. */
export const MAX_COUNTED = 1000;

const notes =
  (how: string, state: string): Say =>
  (count) =>
    `${how} ${count}${count >= MAX_COUNTED ? ' or more' : ''} ${state} ${count === 1 ? 'note' : 'notes'}`;

/** The folded form of words whose written form differs by more than upper and lower case. */
function readAs(words: readonly string[]): string {
  const forms = words.flatMap((word) => {
    const form = fold(word);
    return form === '' || form === word.toLowerCase() ? [] : [`“${form}”`];
  });
  return forms.length > 0 ? `, read as ${[...new Set(forms)].join(', ')}` : '';
}

const SENTENCES: Record<FindingCode, Say> = {
  same_as_rejected: notes('same text as', 'rejected'),
  like_rejected: notes('like', 'rejected'),
  reads_like_rejected: (percent, words) =>
    `reads like rejected notes (${percent} %)${words.length > 0 ? `: ${words.join(', ')}` : ''}`,
  same_as_pending: notes('same text as', 'waiting'),
  like_pending: notes('like', 'waiting'),
  same_as_approved: notes('same text as', 'approved'),
  like_approved: notes('like', 'approved'),
  links: counted('link', 'links'),
  many_links: counted('link', 'links'),
  link_to_number: (count) => `link to a number instead of a name: ${count}`,
  link_look_alike: (count) => `link whose address may pass for another: ${count}`,
  link_with_credentials: (count) => `link with a user name in it: ${count}`,
  email: counted('e-mail address', 'e-mail addresses'),
  phone: counted('telephone number', 'telephone numbers'),
  markup: (count) => `HTML or forum markup: ${counted('tag', 'tags')(count, [])}`,
  profanity: (count, words) => `profanity: ${counted('word', 'words')(count, [])}${readAs(words)}`,
  member_name: () => 'a guest with the name of a member',
  mixed_scripts: (count) =>
    count === 1 ? 'mixed scripts in one word' : `mixed scripts in ${count} words`,
  styled_letters: (count, words) => `letters in a disguise: ${count}${readAs(words)}`,
  direction: counted('direction character', 'direction characters'),
  invisible: counted('invisible character', 'invisible characters'),
  stacked_marks: (count) => `marks heaped on a letter: ${count}`,
  long_word: counted('very long word', 'very long words'),
  repeated_characters: (count) => `one character over and over: ${count}`,
  repeated_words: (count) => `one word ${count} times`,
  shouting: (percent) => `${percent} % capitals`,
};

/** The sentence that presents a finding to a moderator. */
export function toSentence({ code, count }: Finding, words: readonly string[] = []): string {
  return SENTENCES[code](count, words);
}
