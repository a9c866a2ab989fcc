import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createCaseCommands, createOpenCase, pass } from '../../harness/cases.ts';
import { query } from '../../platform/postgres/query.ts';
import { lapsedCases } from '../../projections/cases/cases.ts';
import { expireCaseClaims } from '../../workers/cases/expire-case-claims.ts';
import { startService } from '../support/service.ts';

t.test('records one event per lapsed claim and none for a live one', async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const ids = [
    await createOpenCase(author),
    await createOpenCase(author),
    await createOpenCase(author),
  ];
  for (const id of ids) await ann.claim(id, 1, { lease_seconds: 300 });
  for (const id of ids.slice(0, 2)) await pass(service, id, 301);
  const read = async () =>
    (await service.call('GET', '/api/v1/cases')).text +
    (await service.call('GET', `/api/v1/cases/${ids[0]}`)).text;
  const before = await read();

  const sweeps = await Promise.all([
    expireCaseClaims(service.core),
    expireCaseClaims(service.core),
  ]);
  t.equal(sweeps[0] + sweeps[1], 2, 'concurrent sweeps record each end once');
  t.equal(await expireCaseClaims(service.core), 0, 'a second sweep finds nothing');
  t.equal(await read(), before, 'reads are unchanged by the event');
  const { rows } = await service.database.pool.query(
    `SELECT actor FROM events WHERE type = 'CaseLeaseEnded'`,
  );
  t.same(rows, [{ actor: { type: 'service' } }, { actor: { type: 'service' } }]);
  const feed = await service.database.pool.query(
    `SELECT member_id, data->>'member_id' AS holder FROM feed
      WHERE type = 'case.lease_ended' AND subject_id = $1 ORDER BY member_id`,
    [ids[0]],
  );
  t.same(
    feed.rows,
    [author.agent.id, ann.agent.id]
      .sort()
      .map((member_id) => ({ member_id, holder: ann.agent.id })),
  );
});

t.test('returns lapsed claims in the order of their expiry', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const submitted = await createOpenCase(author);
  await ann.claim(submitted, 1, { lease_seconds: 300 });
  await ann.submit(submitted, 2);
  const ids = [
    await createOpenCase(author),
    await createOpenCase(author),
    await createOpenCase(author),
  ];
  for (const id of ids) await ann.claim(id, 1, { lease_seconds: 300 });
  for (const [index, id] of ids.entries())
    if (index > 0) await pass(service, id, 300 * (index + 1));
  const over = ids.slice(1).reverse();
  const next = async (limit: number) =>
    (await query(pool, lapsedCases(limit))).map(({ case_id }) => case_id);
  t.same(await next(1), over.slice(0, 1), 'at most the requested number');
  t.same(await next(10), over, 'neither a live nor a submitted claim');
  t.equal(await expireCaseClaims(service.core), over.length);
  t.same(await next(10), []);
});
