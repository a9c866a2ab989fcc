import { fileText } from './file-text.ts';
import { toPlainText } from './plain-text.ts';
import {
  MAX_COMMENT_CHARACTERS,
  type SourceComment,
  toText,
  toTime,
  UnreadableExport,
} from './source.ts';

/** Reads a backup of remark42: one JSON object a line, the first of which describes the site. */
export async function* readRemark42(path: string): AsyncGenerator<SourceComment> {
  let first = true;
  for await (const line of lines(path)) {
    if (line.trim() === '') continue;
    const object = toObject(line);
    if (first && typeof object?.version !== 'number' && typeof object?.id !== 'string')
      throw new UnreadableExport('the first line is not that of a backup of remark42');
    if (!(first && 'version' in (object ?? {}))) yield toComment(object);
    first = false;
  }
  if (first) throw new UnreadableExport('the file is empty');
}

function toObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch (error) {
    throw new UnreadableExport('a line is not valid JSON', { cause: error });
  }
}

function toComment(line: Record<string, unknown> | null): SourceComment {
  const comment = line ?? {};
  const locator = (comment.locator ?? {}) as Record<string, unknown>;
  const user = (comment.user ?? {}) as Record<string, unknown>;
  const id = toText(comment.id);
  return {
    ref: id,
    parent: toText(comment.pid) || null,
    identity: [toText(locator.site), id],
    thread: toText(locator.url),
    // remark42 escapes names, and keeps texts as HTML.
    name: toPlainText(toText(user.name)),
    text: toText(comment.text) || toText(comment.orig),
    html: true,
    writtenAt: toTime(toText(comment.time)),
    state: comment.delete === true ? 'deleted' : 'published',
  };
}

async function* lines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of fileText(path)) {
    const parts = `${rest}${chunk}`.split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > MAX_COMMENT_CHARACTERS)
      throw new UnreadableExport(`a line has more than ${MAX_COMMENT_CHARACTERS} characters`);
    yield* parts;
  }
  yield rest;
}
