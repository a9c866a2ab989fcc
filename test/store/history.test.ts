import t from 'tap';
import { eventsIn, writeHistory } from '../../harness/history.ts';
import { fillTables } from '../../harness/history-tables.ts';
import { readModels } from '../../harness/rebuilt.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { testDatabase } from '../support/database.ts';

t.test('writes a valid history by SQL, with the tables that a rebuild makes', async (t) => {
  const { url, pool } = await testDatabase(t);
  const size = { members: 120, notes: 12 };
  const client = await pool.connect();
  try {
    await writeHistory(client, size);
    await fillTables(client);
  } finally {
    client.release();
  }
  const { rows } = await pool.query<RecordedEvent>('SELECT * FROM events ORDER BY position');
  for (const event of rows) catalogue.check(event);
  const expected = eventsIn(size);
  t.ok(
    Math.abs(rows.length - expected) < expected / 20,
    `${rows.length} events, ${expected} expected`,
  );
  // SQL cannot split texts as the service does: platform/words.ts.
  const UNSPLIT = ['notes', 'profiles', 'artifacts', 'cases'];
  const filled = await readModels(pool);
  await rebuild(url, catalogue, projections);
  for (const table of UNSPLIT) {
    const { rowCount } = await pool.query(`SELECT FROM ${table} WHERE words IS NULL`);
    t.equal(rowCount, 0, `the rebuild splits the texts of ${table}`);
    await pool.query(`UPDATE ${table} SET words = NULL`);
  }
  const rebuilt = await readModels(pool);
  for (const [table, rows] of Object.entries(rebuilt)) t.same(filled[table], rows, table);
  const empty = Object.keys(rebuilt).filter((table) => rebuilt[table]?.length === 0);
  const unused = [
    'imported_notes',
    'member_appeals',
    'member_decisions',
    'note_appeals',
    'record_decisions',
  ];
  t.same(empty.sort(), unused, 'the history leaves only these tables empty');
});
