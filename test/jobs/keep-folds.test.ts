import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import t from 'tap';
import { addModerator, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { mendReadModels } from '../../projections/rebuild/mend.ts';
import { proveReadModels } from '../../projections/rebuild/prove.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { FOLD_BATCH } from '../../projections/screening/fold-marks.ts';
import { catalogue, projections } from '../../services/features.ts';
import { keepFolds } from '../../workers/moderation/keep-folds.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { retriedJob } from '../support/retried-job.ts';
import { type Service, startService } from '../support/service.ts';

const ADVERT = 'Cheap telescopes for everyone, today only, write to the shop on the hill';

async function send(service: Service, message: string): Promise<string> {
  const { id } = await submit(service, { message });
  await retriedJob(() => screenNote(service.core, { note_id: id }));
  return id;
}

async function fold(who: Moderator, service: Service, place: string, method = 'PUT') {
  const headers = { authorization: `Bearer ${who.token}` };
  const body = method === 'PUT' ? { body: {} } : {};
  const answer = await service.call(method, `/api/moderation/folds/${place}`, { ...body, headers });
  if (answer.status !== 200) throw new Error(answer.text);
}

const idsOf = async (who: Moderator): Promise<string[]> =>
  (await who.get('queue?limit=100')).body.items.map(({ id }: { id: string }) => id);

async function marks({ database }: Service): Promise<number> {
  const { rows } = await database.pool.query('SELECT count(fold_id)::int AS count FROM notes');
  return rows[0].count;
}

/** Sends three adverts between two other notes. */
async function flood(service: Service) {
  const before = await send(service, 'A question about the archive, if I may ask one here');
  const adverts: [string, string, string] = [
    await send(service, ADVERT),
    await send(service, `${ADVERT}!`),
    await send(service, `${ADVERT}!!`),
  ];
  const last = await send(service, 'The last note of this afternoon, and a friendly one');
  return { before, adverts, last };
}

t.test(
  'gives folded notes their rows when the fold is over, and then takes their marks',
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    const { before, adverts, last } = await flood(service);
    const ends: Readonly<Record<string, () => Promise<unknown>>> = {
      'a moderator ends it': () => fold(ann, service, `text/${adverts[2]}`, 'DELETE'),
      'its time is over': () =>
        service.database.pool.query("UPDATE note_folds SET ends_at = now() - interval '1 second'"),
    };
    for (const [name, end] of Object.entries(ends)) {
      await fold(ann, service, `text/${adverts[2]}`);
      t.same(await idsOf(ann), [before, adverts[0], last], name);
      t.equal(await keepFolds(service.core), 0, 'the marks of a live fold stay');
      t.equal(await marks(service), 3);
      await end();
      t.same(await idsOf(ann), [before, ...adverts, last], `${name}: before a worker runs`);
      const { claims } = (await ann.post('claims', { count: 5 })).body;
      t.equal(claims.length, 5, `${name}: each is claimed`);
      await ann.post('claims/release', {
        lease_ids: claims.map(({ lease_id }: { lease_id: string }) => lease_id),
      });
      t.equal(await keepFolds(service.core), 3);
      t.equal(await marks(service), 0);
      t.same(await idsOf(ann), [before, ...adverts, last], `${name}: afterwards`);
    }
  },
);

t.test('ends a fold with the fingerprint of its note', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { before, adverts, last } = await flood(service);
  await fold(ann, service, `text/${adverts[1]}`);
  await service.tamper('DELETE FROM note_fingerprints WHERE note_id = $1', [adverts[1]]);
  t.same(await idsOf(ann), [before, ...adverts, last]);
  t.equal(await keepFolds(service.core), 3);
  t.equal(await marks(service), 0);
});

t.test(
  'lets the next note represent a fold while the first is deferred or escalated',
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    const lead = await addModerator(service, 'Lea', 'lead');
    const { before, adverts, last } = await flood(service);
    const [first, second] = adverts;
    await fold(ann, service, `text/${first}`);
    const act = (body: object) =>
      ann.post(`notes/${first}/decisions`, { expected_version: 1, ...body });
    const deferred = await act({ action: 'defer' });
    t.equal(deferred.status, 201, deferred.text);
    t.same(await idsOf(ann), [before, second, last], 'deferred');
    t.same((await ann.get('queue?view=deferred')).body.items.length, 1);
    const { version, event_id } = deferred.body;
    const undone = await ann.post(`decisions/${event_id}/undo`, { expected_version: version });
    t.equal(undone.status, 201, undone.text);
    t.same(await idsOf(ann), [before, first, last], 'due again');

    const escalated = await act({
      action: 'escalate',
      message: 'Is this allowed?',
      expected_version: undone.body.version,
    });
    t.equal(escalated.status, 201, escalated.text);
    t.same(await idsOf(ann), [before, second, last], 'escalated');
    t.same(await idsOf(lead), [first, before, second, last], 'a lead sees both');
    const back = await ann.post(`decisions/${escalated.body.event_id}/undo`, {
      expected_version: escalated.body.version,
    });
    t.equal(back.status, 201, back.text);
    t.same(await idsOf(lead), [before, first, last], 'not escalated any more');
  },
);

t.test('folds a note again whose decision is undone, also one from before the fold', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { before, adverts, last } = await flood(service);
  const [first, second] = adverts;
  const rejected = await decide(ann, first, 'reject');
  await service.tamper('UPDATE notes SET fold_id = NULL');
  await fold(ann, service, `text/${second}`);
  await service.tamper('UPDATE notes SET fold_id = NULL WHERE note_id = $1', [first]);
  t.same(await idsOf(ann), [before, second, last]);
  const { event_id, version } = rejected.body;
  const undone = await ann.post(`decisions/${event_id}/undo`, { expected_version: version });
  t.equal(undone.status, 201, undone.text);
  t.same(await idsOf(ann), [before, first, second, last], 'until its job ran');
  await screenNote(service.core, { note_id: first });
  t.same(await idsOf(ann), [before, first, last]);
});

t.test('moves a note to another fold that it belongs to', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { before, adverts, last } = await flood(service);
  await fold(ann, service, `text/${adverts[0]}`);
  await fold(ann, service, `text/${adverts[2]}`);
  t.same(await idsOf(ann), [before, adverts[0], last], 'one row of both folds');
  await fold(ann, service, `text/${adverts[0]}`, 'DELETE');
  t.equal(await keepFolds(service.core), 3);
  t.same(await idsOf(ann), [before, adverts[0], last]);
  t.equal(await marks(service), 3);
});

t.test('keeps the marks of folds in a rebuild, and when rows are mended', async (t) => {
  const service = await startService(t);
  const { url } = service.database;
  const ann = await addModerator(service, 'Ann');
  const { before, adverts, last } = await flood(service);
  await fold(ann, service, `text/${adverts[0]}`);
  t.equal((await proveReadModels(url, catalogue, projections)).divergent, 0);
  await rebuild(url, catalogue, projections);
  t.equal(await marks(service), 3);
  t.same(await idsOf(ann), [before, adverts[0], last]);
  await service.tamper('UPDATE notes SET version = 7 WHERE fold_id IS NOT NULL');
  const { mended } = await mendReadModels(url, catalogue, projections);
  t.equal(mended, 3);
  t.equal(await marks(service), 3);
});

/** A pool whose connections end after so many statements. */
const endingAfter = (pool: pg.Pool, statements: number): pg.Pool => {
  let left = statements;
  return Object.create(pool, {
    connect: {
      value: () =>
        left-- > 0 ? pool.connect() : Promise.reject(new Error('the worker was killed')),
    },
  });
};

t.test('compares a flood in batches, and continues after the worker was killed', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const seed = await send(service, ADVERT);
  const many = 3 * FOLD_BATCH;
  await service.tamper(
    `WITH added AS (INSERT INTO notes (note_id, owner_id, experience, attribution, name, message, state, version,
        submitted_at)
      SELECT id, id, 'service', 'guest', '', 'An advert', 'pending', 1, now() + n * interval '1 second'
      FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(1, ${many}) n) one
      RETURNING note_id, submitted_at)
    INSERT INTO note_fingerprints (hash, screened_at, note_id)
    SELECT f.hash, added.submitted_at, added.note_id FROM added,
      (SELECT hash FROM note_fingerprints WHERE note_id = $1) f`,
    [seed],
  );
  const last = await send(service, `A question: ${randomUUID()}`);
  await service.tamper(
    `UPDATE notes SET submitted_at = now() + interval '1 day' WHERE note_id = $1`,
    [last],
  );
  await fold(ann, service, `text/${seed}`);
  t.equal(await marks(service), FOLD_BATCH, 'the newest are folded in the request');
  const { rows: jobs } = await service.database.pool.query(
    "SELECT FROM pgboss.job WHERE name = 'keep-folds'",
  );
  t.equal(jobs.length, 1, 'and a job compares the others');

  // Reads what is over, the folds and a page, marks it, and notes the place.
  const killed = { pool: endingAfter(service.core.pool, 5) };
  await t.rejects(keepFolds(killed));
  t.equal(await marks(service), 2 * FOLD_BATCH);
  t.equal(await keepFolds(service.core), FOLD_BATCH + 1);
  t.equal(await marks(service), many + 1);
  t.same(await idsOf(ann), [seed, last]);
  t.equal(await keepFolds(service.core), 0);

  // As a rebuild by an earlier release leaves them.
  await service.tamper('UPDATE notes SET fold_id = NULL');
  t.equal((await idsOf(ann)).length, 100);
  await fold(ann, service, `text/${seed}`);
  await keepFolds(service.core);
  t.equal(await marks(service), many + 1, 'folding the same again marks all');

  await fold(ann, service, `text/${seed}`, 'DELETE');
  await t.rejects(keepFolds({ pool: endingAfter(service.core.pool, 3) }));
  t.equal(await marks(service), 2 * FOLD_BATCH + 1);
  t.equal((await idsOf(ann)).length, 100);
  t.equal(await keepFolds(service.core), 2 * FOLD_BATCH + 1);
  t.equal(await marks(service), 0);
});
