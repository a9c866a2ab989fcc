import t from 'tap';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
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
