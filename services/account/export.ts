import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { withDeadline } from '../../platform/postgres/request-deadline.ts';
import type { Sql } from '../../platform/sql.ts';
import type { ExportSection } from '../export-section.ts';

const BATCH = 200;
const CHUNK = 64 * 1024;

/** The proof no longer holds: what gave it ended while the export was streaming. */
class ExportCut extends Error {}

type Row = never;

/**
 * Streams the export. Between batches it holds no connection and no transaction, however slowly the
 * client reads, and each batch checks the proof again: `holds` selects a row. An error throws, which aborts the
 * connection: a document that parses is complete.
 */
export async function* exportDocument(
  pool: pg.Pool,
  memberId: string,
  holds: Sql,
  head: Record<string, unknown>,
  sections: readonly ExportSection[],
  undoSeconds: number,
): AsyncGenerator<string> {
  let text = JSON.stringify(head).slice(0, -1);
  for (const section of sections) {
    const one = section.shape === 'one';
    text += `,${JSON.stringify(section.name)}:${one ? '' : '['}`;
    let count = 0;
    for await (const entry of entriesOf(pool, memberId, holds, section, undoSeconds)) {
      text += `${count++ > 0 ? ',' : ''}${JSON.stringify(entry)}`;
      if (text.length < CHUNK) continue;
      yield text;
      text = '';
    }
    text += one ? (count === 0 ? 'null' : '') : ']';
  }
  yield `${text}}`;
}

async function* entriesOf(
  pool: pg.Pool,
  memberId: string,
  holds: Sql,
  section: ExportSection,
  undoSeconds: number,
): AsyncGenerator<unknown> {
  const limit = section.shape === 'one' ? 1 : (section.batch ?? BATCH);
  for (let last: Row | undefined; ; ) {
    // Each batch gets its own deadline, because the export lasts as long as the client reads.
    const [held, rows] = await withDeadline(() =>
      Promise.all([
        query(pool, holds),
        query(pool, section.after(memberId, last, limit, undoSeconds)),
      ]),
    );
    if (held.length === 0) throw new ExportCut('the proof no longer holds');
    for (const row of rows) yield section.entry(row);
    last = rows.at(-1);
    if (rows.length < limit || section.shape === 'one') return;
  }
}
