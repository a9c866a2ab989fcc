import t from 'tap';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { type FoldRow, liveFolds } from '../../services/moderation/folds/folds.ts';
import { MAX_RARE_MATCHES, queuePage } from '../../services/moderation/queue/queue-page.ts';
import { testDatabase } from '../support/database.ts';
import { insertNotesOfOthers } from '../support/decided-notes.ts';
import { countRowsRead } from '../support/rows-read.ts';

const MODERATOR = '00000000-0000-4000-8000-000000000001';
const NOTES = 4000;

t.test('reads a rare finding at the cost of its notes only', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(insertNotesOfOthers(NOTES));
    // Attribute all notes to guests: for members, the query also counts their other notes.
    await client.query('UPDATE notes SET member_id = NULL');
    await client.query(`INSERT INTO note_findings (note_id, code)
      SELECT note_id, 'profanity' FROM notes UNION ALL
      (SELECT note_id, 'email' FROM notes ORDER BY settled_at LIMIT 3)`);
    const read = (finding: string) =>
      countRowsRead(
        client,
        queuePage('decided', { moderatorId: MODERATOR, role: 'lead' }, { finding }, 51, undefined),
      );
    for (const analyzed of [false, true]) {
      if (analyzed) await client.query('ANALYZE notes, note_findings');
      const state = analyzed ? 'with statistics' : 'without';
      t.equal(await read('shouting'), 0, state);
      t.ok((await read('email')) < 30, state);
    }
    t.ok(
      (await read('profanity')) < MAX_RARE_MATCHES + 600,
      'a common finding is not read to its end',
    );
  });
});

t.test('counts the notes of an address once for each page', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(insertNotesOfOthers(NOTES));
    await client.query('UPDATE notes SET member_id = NULL');
    const read = () =>
      countRowsRead(
        client,
        queuePage('decided', { moderatorId: MODERATOR, role: 'lead' }, {}, 51, undefined),
      );
    const without = await read();
    await client.query(`INSERT INTO note_addresses (note_id, bucket, submitted_at)
      SELECT note_id, 'flood', submitted_at FROM notes`);
    for (const analyzed of [false, true]) {
      if (analyzed) await client.query('ANALYZE notes, note_addresses');
      const more = (await read()) - without;
      t.ok(more < 1500, `${more} rows of the address, ${analyzed ? 'with' : 'without'} statistics`);
    }
  });
});

t.test('reads as much of a fold of eight thousand notes as of one of four thousand', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(insertNotesOfOthers(NOTES));
    await client.query(insertNotesOfOthers(NOTES));
    await client.query(`UPDATE notes SET member_id = NULL, state = 'pending', settled_at = NULL`);
    await client.query(`INSERT INTO note_fingerprints (hash, screened_at, note_id)
      SELECT hash, submitted_at, note_id FROM notes, generate_series(1, 9) hash`);
    await client.query(`INSERT INTO note_addresses (note_id, bucket, submitted_at)
      SELECT note_id, 'flood', submitted_at FROM notes`);
    await client.query(`INSERT INTO note_folds (kind, note_id, moderator_id, folded_at, ends_at)
      SELECT kind, note_id, gen_random_uuid(), now(), now() + interval '1 day'
      FROM (SELECT note_id FROM notes ORDER BY submitted_at, note_id LIMIT 1) seed,
        unnest(ARRAY['text', 'address']) kind`);
    const viewer = { moderatorId: MODERATOR, role: 'lead' as const };
    const read = async () => {
      const { name: _, text, values } = liveFolds();
      const { rows: folds } = await client.query<FoldRow>(text, values);
      t.equal(folds.length, 2);
      const page = queuePage('todo', viewer, {}, 51, undefined, folds);
      const given = page.values.map((one) => (Array.isArray(one) ? `{${one}}` : one));
      return (
        (await countRowsRead(client, liveFolds())) +
        (await countRowsRead(client, { ...page, values: given }))
      );
    };
    await client.query('ANALYZE notes, note_fingerprints, note_addresses');
    const many = await read();
    await client.query(`CREATE TEMP TABLE newer AS SELECT note_id FROM notes
      ORDER BY submitted_at DESC, note_id DESC LIMIT ${NOTES}`);
    for (const table of ['note_fingerprints', 'note_addresses', 'notes'])
      await client.query(`DELETE FROM ${table} WHERE note_id IN (SELECT note_id FROM newer)`);
    const half = await read();
    t.ok(many < 1.2 * half, `${many} rows of all, ${half} of the half`);
    t.ok(many < 30_000, `${many} rows: those of a page, and those that a fold looks at`);
  });
});
