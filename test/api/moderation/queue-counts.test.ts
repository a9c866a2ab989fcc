import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { addModerator } from '../../../harness/moderation.ts';
import { type Service, startService } from '../../support/service.ts';

const WAITING = 1500;

/** Inserts pending notes into the read model; the newest has the name `last`. */
const insertPending = (service: Service) =>
  service.tamper(`INSERT INTO notes (note_id, owner_id, experience, attribution, name, message, state,
      version, submitted_at)
    SELECT gen_random_uuid(), gen_random_uuid(), 'service', 'guest', CASE n WHEN ${WAITING} THEN 'last' ELSE '' END, 'Again',
      'pending', 1, now() + n * interval '1 second'
    FROM generate_series(1, ${WAITING}) n`);

t.test('counts a view of more than a thousand notes completely', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await insertPending(service);
  let todo: number;
  do {
    const { status, body } = await ann.get('queue');
    t.equal(status, 200);
    todo = body.counts.todo;
    if (todo !== WAITING) {
      t.equal(todo, 1001, 'shows a lower bound until the count is known');
      await sleep(100);
    }
  } while (todo !== WAITING);
});

t.test('serves a view that cannot be counted in time', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  await insertPending(service);
  // Reading the last note takes longer than a statement may.
  await service.tamper(`CREATE FUNCTION slow(name text) RETURNS boolean LANGUAGE plpgsql AS $$
      BEGIN IF name = 'last' THEN PERFORM pg_sleep(60); END IF; RETURN true; END $$;
    ALTER TABLE notes RENAME TO all_notes;
    CREATE VIEW notes AS SELECT * FROM all_notes WHERE slow(name)`);
  for (const wait of [0, 0, 3000]) {
    await sleep(wait);
    const { status, body, text } = await ann.get('queue?limit=20');
    t.equal(status, 200, text);
    t.equal(body.items.length, 20);
    t.equal(body.counts.todo, 1001, 'shows a lower bound');
  }
});
