import { jsonValues } from './json-values.ts';
import { type SourceComment, toText, toTime, UnreadableExport } from './source.ts';

type Fields = Readonly<Record<string, unknown>>;
const MAX_NAME = 200;

/** Reads an export of Commento, version 1. Names come behind the comments, so the file is read twice. */
export async function* readCommento(path: string): AsyncGenerator<SourceComment> {
  const names = new Map<string, string>();
  let version: unknown;
  for await (const { value, path: at } of jsonValues(path, ['$.version', '$.commenters.*'])) {
    if (at[0] === 'version') version = value;
    else {
      const { commenterHex, name } = toFields(value);
      names.set(toText(commenterHex), toText(name).slice(0, MAX_NAME));
    }
  }
  if (version !== 1)
    throw new UnreadableExport('the file is not an export of Commento in version 1');
  for await (const { value } of jsonValues(path, ['$.comments.*'])) {
    const comment = toFields(value);
    const id = toText(comment.commentHex);
    const parent = toText(comment.parentHex);
    yield {
      ref: id,
      parent: parent === '' || parent === 'root' ? null : parent,
      identity: [toText(comment.domain), id],
      // Exports of early releases name the path `url`.
      thread: toText(comment.path) || toText(comment.url),
      name: names.get(toText(comment.commenterHex)) ?? '',
      text: toText(comment.markdown),
      html: false,
      writtenAt: toTime(toText(comment.creationDate)),
      state: stateOf(comment),
    };
  }
}

const toFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

function stateOf({ deleted, state }: Fields): SourceComment['state'] {
  if (deleted === true) return 'deleted';
  return state === 'approved' ? 'published' : 'pending';
}
