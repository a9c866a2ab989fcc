import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, atDesk } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { createTraffic } from '../../harness/traffic.ts';
import type { Difference } from '../../projections/rebuild/compare-tables.ts';
import { inProvingSession, proveReadModels } from '../../projections/rebuild/prove.ts';
import { catalogue, projections } from '../../services/features.ts';
import { expireCredentials } from '../../workers/credentials/expire-credentials.ts';
import { eraseOldNotes } from '../../workers/guestbook/erase-old-notes.ts';
import { expireSessions } from '../../workers/membership/expire-sessions.ts';
import { corruptRows, describeRow, rememberRows } from '../support/corrupted-rows.ts';
import {
  fillHistory,
  joinAndLeave,
  keepDoing,
  PLENTY_LIMITS,
  startLoad,
} from '../support/proven-service.ts';
import { type Service, startService } from '../support/service.ts';

async function prove(service: Service) {
  const found: Difference[] = [];
  const proof = await proveReadModels(service.database.url, catalogue, projections, {
    found: (difference) => void found.push(difference),
  });
  return { found, proof };
}

t.test('finds nothing while every operation, erasure and expiry goes on', async (t) => {
  const service = await startService(t, PLENTY_LIMITS);
  await fillHistory(service, 100);
  const api = patient(service);
  const desk = {
    moderator: atDesk(api, await addModerator(service, 'Ann')),
    lead: atDesk(api, await addModerator(service, 'Lea', 'lead')),
  };
  const operations = await createTraffic(api, desk);
  let at = 0;
  const loads = [
    keepDoing(async () => {
      const send = await operations[at++ % operations.length]?.prepare();
      await send?.();
    }),
    keepDoing(async () => {
      await joinAndLeave(service);
      await expireSessions(service.core);
      await expireCredentials(service.core);
      await eraseOldNotes({
        store: service.core.store,
        config: { retentionRejectedDays: 0, retentionWithdrawnDays: 0 },
      });
    }),
  ];
  let runs = 0;
  const isWorking = () => !loads.some((load) => load.hasFailed());
  // Every operation is sent once at least.
  for (; runs < 3 || (at < operations.length && isWorking()); runs++) {
    const { found, proof } = await prove(service);
    t.same(found.slice(0, 3), [], `${found.length} findings`);
    t.equal(proof.divergent, 0);
    t.ok(proof.rows > 500, `${proof.rows} rows`);
  }
  const [sent = 0, left = 0] = await Promise.all(loads.map((load) => load.stop()));
  t.comment(`${runs} proofs, ${sent} operations, ${left} members erased`);
  t.ok(left > 0, 'members were erased meanwhile');
});

t.test('finds each of 1,000 rows that were changed under load, and no other', async (t) => {
  const service = await startService(t, PLENTY_LIMITS);
  await fillHistory(service, 150);
  await rememberRows(service.database.pool);
  const stop = await startLoad(service);
  await service.tamper('SELECT');
  const corrupted = await corruptRows(service.database.pool, 1000);
  const { found, proof } = await prove(service);
  await stop();
  const rows = new Set(found.map(({ table, key }) => describeRow(table, key)));
  t.same([...rows.difference(corrupted)], [], 'nothing else is named');
  t.same([...corrupted.difference(rows)], [], 'each is found');
  t.equal(corrupted.size, 1000);
  t.equal(proof.divergent, 1000);
  const kinds = Object.groupBy(found, ({ kind }) => kind);
  for (const kind of ['missing', 'surplus', 'changed'] as const)
    t.ok((kinds[kind]?.length ?? 0) > 50, `${kinds[kind]?.length} ${kind}`);
  t.ok(new Set(proof.tables).size > 15, `of ${proof.tables.length} tables`);
});

t.test('cannot write a served table while it projects the log', async (t) => {
  const service = await startService(t);
  await newAgent(service);
  const url = service.database.url;
  await inProvingSession(url, catalogue, projections, {}, async ({ client }) => {
    await client.query('BEGIN READ WRITE; DROP TABLE pg_temp.profiles; COMMIT');
    await t.rejects(client.query('DELETE FROM profiles'), { code: '25006' });
  });
});
