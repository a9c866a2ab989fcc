import type pg from 'pg';
import t from 'tap';
import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { BY_INDEX, withConnection } from '../../platform/postgres/connection.ts';
import { named, type Sql } from '../../platform/sql.ts';
import { nextClaimable } from '../../services/moderation/claims/claimable-items.ts';
import { liveFolds, MAX_FOLDED } from '../../services/moderation/queue/live-folds.ts';
import type { Filters } from '../../services/moderation/queue/queue.ts';
import {
  FOLD_TABLES,
  MAX_RARE_MATCHES,
  queuePage,
} from '../../services/moderation/queue/queue-page.ts';
import { blocksOf } from '../support/blocks.ts';
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

t.test(
  'finds the marks of folds without the waiting notes, after statistics of an empty queue',
  async (t) => {
    const { url } = await testDatabase(t);
    await withConnection(url, async (client) => {
      await client.query(BY_INDEX);
      await client.query(insertNotesOfOthers(NOTES));
      await client.query('VACUUM ANALYZE notes');
      await client.query(
        `UPDATE notes SET state = 'pending', member_id = NULL, approved_at = NULL, settled_at = NULL`,
      );
      const marks = named(
        `WITH RECURSIVE ${FOLD_TABLES} SELECT (SELECT count(*) FROM ended_folds), (SELECT count(*) FROM firsts)`,
      );
      t.equal(await countRowsRead(client, marks), 0);
    });
  },
);

t.test('lists notes by policy or refusal at the cost of refused notes only', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(insertNotesOfOthers(NOTES));
    await client.query(`WITH oldest AS (
        UPDATE notes SET state = 'rejected', member_id = NULL WHERE note_id IN (
          SELECT note_id FROM notes ORDER BY settled_at LIMIT 3)
        RETURNING note_id, settled_at)
      INSERT INTO note_decisions (event_id, note_id, decision, decided_at, version, policy)
        SELECT gen_random_uuid(), note_id, 'rejected', settled_at, 2, 'spam' FROM oldest`);
    const page = (filters: Filters) =>
      queuePage('decided', { moderatorId: MODERATOR, role: 'lead' }, filters, 51, undefined);
    for (const analyzed of [false, true]) {
      if (analyzed) await client.query('ANALYZE notes, note_decisions');
      for (const [filters, found] of [
        [{ policy: 'spam' }, 3],
        [{ policy: 'other' }, 0],
        [{ state: 'rejected' }, 3],
        [{ state: 'removed' }, 0],
      ] as const) {
        const state = `${JSON.stringify(filters)} ${analyzed ? 'with' : 'without'} statistics`;
        const rows = await countRowsRead(client, page(filters));
        t.ok(rows < 60, `${state}: ${rows} rows`);
        const { text, values } = page(filters);
        t.equal((await client.query(text, values)).rowCount, found, state);
      }
    }
  });
});

t.test('checks the notes of a lead only until the page is full', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    // Each of many authors has an approved and a waiting note.
    await client.query(insertNotesOfOthers(NOTES / 2));
    await client.query(`INSERT INTO notes (note_id, owner_id, member_id, experience, attribution,
        name, message, state, version, submitted_at)
      SELECT gen_random_uuid(), owner_id, member_id, experience, attribution, name, message,
        'pending', 1, submitted_at FROM notes`);
    await client.query('ANALYZE notes');
    const viewer = { moderatorId: MODERATOR, role: 'lead' as const };
    const read = (filters: Filters) =>
      countRowsRead(client, queuePage('todo', viewer, filters, 51, undefined));
    const all = await read({ experience: 'service' });
    // To check all notes would read ten thousand rows more.
    const clean = await read({ author_record: 'clean' });
    t.ok(clean - all < 2000, `${clean} rows, ${all} without the author's record`);

    // Escalated notes come first, and then the oldest of the others.
    await client.query(`UPDATE notes SET tier = 'lead' WHERE note_id IN (SELECT note_id FROM notes
      WHERE state = 'pending' ORDER BY submitted_at DESC LIMIT 30)`);
    const { rows: expected } = await client.query(`SELECT note_id FROM notes
      WHERE state = 'pending' ORDER BY tier, submitted_at, note_id LIMIT 51`);
    const page = queuePage('todo', viewer, { experience: 'service' }, 51, undefined);
    const { rows: found } = await client.query(page.text, page.values);
    t.same(idsOf(found), idsOf(expected));
  });
});

t.test('looks given notes up by their keys in a view of many', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(insertNotesOfOthers(20_000));
    await client.query('UPDATE notes SET member_id = NULL');
    const viewer = { moderatorId: MODERATOR, role: 'lead' as const };
    for (const analyzed of [false, true]) {
      if (analyzed) await client.query('VACUUM ANALYZE notes');
      const { rows } = await client.query('SELECT note_id FROM notes ORDER BY settled_at LIMIT 1');
      const only = queuePage('decided', viewer, { only: idsOf(rows) }, 51, undefined);
      const literal = {
        ...only,
        values: only.values.map((one) => (Array.isArray(one) ? `{${one}}` : one)),
      };
      const { blocks, rows: found } = await blocksOf(client, literal, 'force_generic_plan');
      t.equal(found, 1);
      t.ok(blocks < 100, `${blocks} blocks, ${analyzed ? 'with' : 'without'} statistics`);
    }
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

t.test('counts the newest thousand decided notes of an author, and reads no more', async (t) => {
  const { url } = await testDatabase(t);
  await withConnection(url, async (client) => {
    await client.query(BY_INDEX);
    await client.query(insertNotesOfOthers(NOTES));
    await client.query(`UPDATE notes SET member_id = '${MODERATOR}'`);
    const page = queuePage('decided', { moderatorId: MODERATOR, role: 'lead' }, {}, 11, undefined);
    const { rows } = await client.query({ text: page.text, values: [...page.values] });
    for (const { approved, rejected } of rows) t.equal(approved + rejected, MAX_COUNTED);
    t.equal(rows.length, 11);
    for (const analyzed of [false, true]) {
      if (analyzed) await client.query('ANALYZE notes');
      const read = await countRowsRead(client, page);
      t.ok(read < MAX_COUNTED + 500, `${read} rows, ${analyzed ? 'with' : 'without'} statistics`);
    }
  });
});

const idsOf = (rows: { note_id: string }[]) => rows.map(({ note_id }) => note_id);

/** Fills the queue with 60 notes, and as many older ones that are folded by their text, or by their address. */
async function fold(client: pg.Client, folded: number): Promise<void> {
  await client.query(insertNotesOfOthers(folded));
  await client.query(`INSERT INTO note_folds (kind, note_id, moderator_id, folded_at, ends_at)
    SELECT kind, note_id, gen_random_uuid(), now(), now() + interval '1 day'
    FROM (SELECT note_id FROM notes LIMIT 1) seed, unnest(ARRAY['text', 'address']) kind`);
  await client.query(`INSERT INTO note_fingerprints (hash, screened_at, note_id)
    SELECT hash, submitted_at, note_id FROM notes, generate_series(1, 9) hash`);
  await client.query(`INSERT INTO note_addresses (note_id, bucket, submitted_at)
    SELECT note_id, 'flood', submitted_at FROM notes`);
  await client.query(`UPDATE notes n SET submitted_at = n.submitted_at - interval '1 day',
      fold_id = (SELECT array_agg(fold_id) FROM note_folds)[1 + turn % 2]
    FROM (SELECT note_id, row_number() OVER () AS turn FROM notes) one WHERE one.note_id = n.note_id`);
  await client.query(insertNotesOfOthers(60));
  await client.query(`UPDATE notes SET member_id = NULL, state = 'pending', settled_at = NULL`);
  await client.query('ANALYZE');
}

t.test(
  'reads as little of the queue with folds of eight thousand notes as of two thousand',
  async (t) => {
    for (const role of ['lead', 'moderator'] as const) {
      const viewer = { moderatorId: MODERATOR, role };
      const reads: Readonly<Record<string, Sql>> = {
        'a page': queuePage('todo', viewer, {}, 51, undefined),
        'the newest': queuePage('todo', viewer, { sort: 'newest' }, 51, undefined),
        'a page of a guestbook': queuePage(
          'todo',
          viewer,
          { experience: 'service' },
          51,
          undefined,
        ),
        'a claim': named(nextClaimable('todo', viewer, 10, ''), [MODERATOR]),
      };
      const read = async (folded: number, ended: boolean) => {
        const { url } = await testDatabase(t);
        return withConnection(url, async (client) => {
          await client.query(BY_INDEX);
          await fold(client, folded);
          const rows = await client.query(liveFolds().text);
          t.same(
            rows.rows.map(({ notes }) => notes),
            [MAX_FOLDED, MAX_FOLDED],
          );
          if (ended) await client.query('DELETE FROM note_folds');
          const counts: Record<string, number> = {};
          for (const [name, statement] of Object.entries(reads))
            counts[name] = await countRowsRead(client, statement);
          return counts;
        });
      };
      // The row of a fold counts at most a thousand notes of its address.
      const few = await read(2000, false);
      const many = await read(2 * NOTES, false);
      const over = await read(2 * NOTES, true);
      for (const [name, rows] of Object.entries(few)) {
        t.ok(
          Math.abs((many[name] ?? 0) - rows) < 20,
          `${role}: ${name}: ${many[name]} rows, ${rows} with ten`,
        );
        // All notes have rows of their own again, before a worker has taken their marks.
        const most = name === 'a page of a guestbook' ? 12_000 : 2500;
        t.ok((over[name] ?? 0) < most, `${role}: ${name}: ${over[name]} rows after the folds`);
      }
    }
  },
);
