import { createHash } from 'node:crypto';
import type { ImportSource } from '../../domain/guestbook/words.ts';
import { withLineFeeds, withoutRefused } from '../../platform/visible-text.ts';
import { NoteSubmission } from '../../services/guestbook/contract.ts';
import { toPlainText } from './plain-text.ts';
import type { SourceComment } from './source.ts';

const MAX_NAME = 40;
const MAX_MESSAGE = 500;
/** No program of this list is older. */
const EARLIEST = Date.parse('1990-01-01T00:00:00Z');

/** A comment as a note, or why it cannot be one. */
export type Converted =
  | { note: { name: string; message: string }; shortened: ('name' | 'text')[] }
  | { refused: string };

/** The key of a comment in every import: ids of two programs, or of two sites, never meet. */
export function sourceKey(
  source: ImportSource,
  site: string,
  { identity }: Pick<SourceComment, 'identity'>,
): string {
  return createHash('sha256')
    .update(JSON.stringify([source, site, ...identity]))
    .digest('hex');
}

/** Applies the limits of a submitted note. `now` is in milliseconds of Unix time. */
export function toNote(comment: SourceComment, now: number): Converted {
  if (comment.ref === '') return { refused: 'it has no id' };
  if (comment.state === 'spam') return { refused: 'it is spam in the source' };
  if (comment.state === 'deleted') return { refused: 'it is deleted in the source' };
  if (comment.state === 'no comment') return { refused: 'it is no comment of a person' };
  if (!(comment.writtenAt >= EARLIEST)) return { refused: 'it has no valid time' };
  if (comment.writtenAt > now) return { refused: 'its time is in the future' };
  const text = comment.html ? toPlainText(comment.text) : comment.text;
  const name = cut(toLine(comment.name), MAX_NAME);
  const message = cut(toParagraphs(text), MAX_MESSAGE);
  const note = { name: name.text, message: message.text };
  // The id is only for the schema: the service chooses the real one.
  const checked = NoteSubmission.safeParse({ id: '00000000-0000-4000-8000-000000000000', ...note });
  if (!checked.success)
    return {
      refused: checked.error.issues.map(({ path, message: why }) => `${path}: ${why}`).join(', '),
    };
  return {
    note,
    shortened: [
      ...(name.cut ? (['name'] as const) : []),
      ...(message.cut ? (['text'] as const) : []),
    ],
  };
}

const clean = (text: string): string => withoutRefused(withLineFeeds(text));

const toLine = (text: string): string => clean(text).replace(/\s+/g, ' ').trim();

const toParagraphs = (text: string): string =>
  clean(text)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** The first characters of a text, with an ellipsis as the last one if it had more. */
function cut(text: string, max: number): { text: string; cut: boolean } {
  const characters = [...text];
  if (characters.length <= max) return { text, cut: false };
  return {
    text: `${characters
      .slice(0, max - 1)
      .join('')
      .trimEnd()}…`,
    cut: true,
  };
}
