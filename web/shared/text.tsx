import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { languageOf } from '../../platform/language.ts';
import { guestName, stripInvisible, toLine } from '../../platform/visible-text.ts';

/** The length of a text in code points, as the service counts it. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** A text as it is shown: without invisible characters, outer white space and repeated empty lines. */
export const tidy = (text: string): string =>
  stripInvisible(text)
    .replace(/\n{3,}/g, '\n\n')
    .trim();

const MAX_QUOTE = 60;

/** Identifies a note by its beginning. */
export const toQuote = (message: string): string => toLine(message, MAX_QUOTE);

/** The attributes of an element with a text by another person: its direction, and its language if known. */
export const foreign = (text: string) => ({ dir: 'auto', lang: languageOf(text) }) as const;

/** A short text by another person; `bdi` isolates its direction from the text around it. */
export function UserText({ text, class: name = '' }: { text: string; class?: string }) {
  return (
    <bdi {...foreign(text)} class={`foreign ${name}`}>
      {stripInvisible(text)}
    </bdi>
  );
}

/** Says how far to shorten a text of more than `maxLength` code points; undefined if it fits. */
export function lengthError(text: string, maxLength: number): string | undefined {
  const over = codePoints(text) - maxLength;
  return over > 0 ? `Shorten it by ${over} ${over === 1 ? 'character' : 'characters'}.` : undefined;
}

interface AuthorProps {
  name: string;
  byMember: boolean;
}

/** The author of a note. A guest without a name is "A guest"; a guest with one is marked as a guest. */
export function AuthorName({ name: given, byMember }: AuthorProps) {
  const name = stripInvisible(guestName(given)).trim();
  if (!byMember && name === guestName('')) return <span class="name">A guest</span>;
  return (
    <>
      <UserText text={name} class="name" /> <span class="who">{byMember ? 'member' : 'guest'}</span>
    </>
  );
}

/** A count as a reader sees it: the service counts no further than `MAX_COUNTED`. */
export const countText = (count: number): string =>
  count < MAX_COUNTED ? String(count) : '1,000 or more';

/** The number of replies to a note, as a reader sees it. */
export const repliesText = (count: number): string =>
  count === 1 ? '1 reply' : `${countText(count)} replies`;
