import { DatabaseSync } from 'node:sqlite';
import { firstBytes } from './file-text.ts';
import { jsonValues } from './json-values.ts';
import { type SourceComment, toText, toTime, UnreadableExport } from './source.ts';

/** Reads the SQLite database of isso, or a file in the format of `isso import -t generic`. */
export async function* readIsso(path: string): AsyncGenerator<SourceComment> {
  const isDatabase = (await firstBytes(path, 16)).toString('latin1') === 'SQLite format 3\0';
  if (isDatabase) yield* readDatabase(path);
  else yield* readGeneric(path);
}

/** The modes of isso's comments. */
const STATES: Readonly<Record<number, SourceComment['state']>> = {
  1: 'published',
  2: 'pending',
  4: 'deleted',
};

/** `substr` bounds what a row of a hostile file brings into memory. */
const COMMENTS = `SELECT c.id, c.parent, c.created, c.mode, substr(c.author, 1, 1000) AS author,
    substr(c.text, 1, 65536) AS text, substr(t.uri, 1, 2000) AS uri
  FROM comments c LEFT JOIN threads t ON t.id = c.tid`;

function* readDatabase(path: string): Generator<SourceComment> {
  let rows: Iterable<Record<string, unknown>>;
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    // A file may declare functions in views and triggers; none of them may do more than SQL.
    database.exec('PRAGMA trusted_schema = OFF');
    rows = database.prepare(COMMENTS).iterate();
  } catch (error) {
    throw new UnreadableExport('the file is not a database of isso', { cause: error });
  }
  for (const row of rows) {
    const id = toText(row.id);
    const created = Number(row.created ?? Number.NaN);
    yield {
      ref: id,
      parent: row.parent === null ? null : toText(row.parent),
      // SQLite gives the id of a deleted comment to a later one.
      identity: ['', id, String(created)],
      thread: toText(row.uri),
      name: toText(row.author),
      text: toText(row.text),
      html: false,
      writtenAt: Math.round(created * 1000),
      state: STATES[Number(row.mode)] ?? 'pending',
    };
  }
}

async function* readGeneric(path: string): AsyncGenerator<SourceComment> {
  let thread: { at: string | number | undefined; id: string } | undefined;
  for await (const { value, path: at } of jsonValues(path, ['$.*.id', '$.*.comments.*'])) {
    if (typeof value !== 'object' || value === null) {
      if (at[1] === 'id') thread = { at: at[0], id: toText(value) };
      continue;
    }
    if (thread?.at !== at[0] || thread === undefined)
      throw new UnreadableExport('each thread needs its "id" before its "comments"');
    const comment = value as Record<string, unknown>;
    const id = toText(comment.id);
    yield {
      ref: JSON.stringify([thread.id, id]),
      parent: null,
      identity: ['generic', thread.id, id],
      thread: thread.id,
      name: toText(comment.author),
      text: toText(comment.text),
      html: false,
      writtenAt: toTime(toText(comment.created)),
      state: 'published',
    };
  }
}
