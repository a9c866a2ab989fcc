import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator } from '../../harness/moderation.ts';
import { notifyRemovals, publishArtifact, publishProfile, report } from '../../harness/records.ts';
import { query } from '../../platform/postgres/query.ts';
import { withdrawnReported } from '../../projections/publications/record-reports.ts';
import { settleReports } from '../../workers/moderation/notify-removal.ts';
import { matchAll } from '../support/match-all.ts';
import { advanceTime, readFeed } from '../support/passing-time.ts';
import { type Service, startService } from '../support/service.ts';

const createThreeAgents = async (service: Service) =>
  [await newAgent(service), await newAgent(service), await newAgent(service)] as const;

/** The notifications of a member about the outcome of own reports. */
const readResolutions = async (service: Service, { id }: { id: string }) =>
  (await readFeed(service, id)).filter(({ type }) => type === 'report.resolved');

const readOutcomes = async (service: Service, reporter: { id: string }) =>
  (await readResolutions(service, reporter)).map(
    ({ data }) => (data as { outcome: string }).outcome,
  );

t.test('keeps a report on a republished profile open when it settles older ones', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = await createThreeAgents(service);
  const mod = await addModerator(service, 'Mod');
  const profile = await publishProfile(author);
  await report(ann, profile);
  await author.call('POST', '/api/v1/me/profile/withdraw', {});
  await publishProfile(author, 'Anew');
  t.equal((await report(bob, profile)).status, 201);

  const settled = await Promise.all([settleReports(service.core), settleReports(service.core)]);
  t.equal(settled[0] + settled[1], 1, 'concurrent runs settle it once');
  t.equal(await settleReports(service.core), 0, 'a second run finds nothing');
  t.same(await readOutcomes(service, ann), ['withdrawn']);
  t.same(await readOutcomes(service, bob), [], 'the newer report is undecided');
  const { items, counts } = (await mod.get('queue?view=reported')).body;
  t.equal(counts.reported, 1);
  matchAll(t, items, [{ id: author.id, reports: [{ state: 'open' }, { state: 'withdrawn' }] }]);
  const { version: expected_version } = items[0];
  const path = `subjects/profile/${author.id}/decisions`;
  t.equal((await mod.post(path, { action: 'keep', expected_version })).status, 201);
  t.same(await readOutcomes(service, bob), ['kept']);
  t.same(await readOutcomes(service, ann), ['withdrawn']);
});

t.test('tells each reporter of the removal that answered the report', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = await createThreeAgents(service);
  const [mod, lead] = [
    await addModerator(service, 'Mod'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const artifact = await publishArtifact(author);
  const path = `subjects/artifact/${artifact.id}`;
  const act = async (moderator: typeof mod, action: object) => {
    const { version: expected_version } = (await mod.get(path)).body.item;
    const decided = await moderator.post(`${path}/decisions`, { ...action, expected_version });
    t.equal(decided.status, 201, decided.text);
  };
  await report(ann, artifact);
  await act(mod, { action: 'remove', policy: 'spam' });
  await act(lead, { action: 'restore' });
  await advanceTime(service, '11 minutes');
  t.equal((await report(bob, artifact)).status, 201);
  await act(mod, { action: 'remove', policy: 'spam' });
  await t.rejects(notifyRemovals(service), /before the undo window has passed/);
  t.same(await readOutcomes(service, ann), ['kept']);
  t.same(await readOutcomes(service, bob), [], 'the second removal may still be undone');
  await advanceTime(service, '11 minutes');
  t.equal(await notifyRemovals(service), 1);
  t.same(await readOutcomes(service, ann), ['kept']);
  t.same(await readOutcomes(service, bob), ['removed']);
});

t.test('reopens a report when a removal is undone after the notification', async (t) => {
  const service = await startService(t);
  const [author, ann] = await createThreeAgents(service);
  const [mod, lead] = [
    await addModerator(service, 'Mod'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const { id } = await publishArtifact(author);
  await report(ann, { type: 'artifact', id });
  const remove = (expected_version: number) =>
    mod.post(`subjects/artifact/${id}/decisions`, {
      action: 'remove',
      policy: 'spam',
      expected_version,
    });
  const removed = (await remove(2)).body;
  await advanceTime(service, '11 minutes');
  t.equal(await notifyRemovals(service), 1);
  t.same(await readOutcomes(service, ann), ['removed']);
  const { version: expected_version } = (await mod.get(`subjects/artifact/${id}`)).body.item;
  const undone = await lead.post(`decisions/${removed.event_id}/undo`, { expected_version });
  t.equal(undone.status, 201, undone.text);
  const [waiting] = (await mod.get('queue?view=reported')).body.items;
  t.match(waiting, { id, reports: [{ state: 'open' }] });
  t.equal((await remove(waiting.version)).status, 201);
  await advanceTime(service, '11 minutes');
  t.equal(await notifyRemovals(service), 1);
  t.same(
    await readOutcomes(service, ann),
    ['removed', 'removed'],
    'one notification per final removal',
  );
});

t.test('tells reporters, not the author, of the withdrawal of a removed record', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = await createThreeAgents(service);
  const mod = await addModerator(service, 'Mod');
  const records = [await publishArtifact(author), await publishProfile(author)];
  for (const record of records) {
    await report(ann, record);
    await report(bob, record);
    const removal = { action: 'remove', policy: 'spam', expected_version: 3 };
    const removed = await mod.post(`subjects/${record.type}/${record.id}/decisions`, removal);
    t.equal(removed.status, 201, removed.text);
  }
  const [artifact] = records;
  const withdrawn = await author.call('POST', `${artifact?.path}/withdraw`, {});
  t.equal(withdrawn.status, 200, withdrawn.text);
  await author.call('POST', '/api/v1/me/profile/withdraw', {});
  const { pool } = service.database;
  t.equal((await query(pool, withdrawnReported(1))).length, 1, 'at most the requested number');
  t.equal((await query(pool, withdrawnReported(10))).length, 2, 'each record is listed once');
  await advanceTime(service, '11 minutes');
  t.equal(await notifyRemovals(service), 2);
  t.equal(await notifyRemovals(service), 0, 'a second run notifies nobody');
  for (const reporter of [ann, bob]) {
    t.same(await readOutcomes(service, reporter), ['withdrawn', 'withdrawn']);
    for (const { actor } of await readResolutions(service, reporter))
      t.same(actor, { type: 'service' }, 'the actor is the service');
  }
  const types = (await readFeed(service, author.id)).map(({ type }) => type);
  t.notOk(types.some((type) => type.endsWith('.removed')));
});
