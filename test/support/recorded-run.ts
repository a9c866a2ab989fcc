import type { Test } from 'tap';
import { WEIGHTS } from '../../domain/screening/rules.ts';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, atDesk, decide, submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { publishArtifact, publishCase } from '../../harness/records.ts';
import { createTraffic } from '../../harness/traffic.ts';
import { disablings } from '../../harness/traffic-disabling.ts';
import { passkeys } from '../../harness/traffic-passkeys.ts';
import { createLogFollower, newestPosition } from '../../platform/eventstore/subscription.ts';
import { createReport } from '../../services/operate/create-report.ts';
import { backtest } from '../../services/screening/backtest.ts';
import { JOBS } from '../../workers/jobs.ts';
import { READ_MODELS, untilInTime } from '../support/operate.ts';
import { sealNow } from '../support/sealed.ts';
import type { testDatabase } from './database.ts';
import { type Service, startService } from './service.ts';
import { recordStatements } from './statements.ts';

/**
 * Starts a service, calls every operation and runs every job and the backtest, and records the statements
 * that this sends. `prepare` runs before the first call. `shared` is a database, to which `settings` connect.
 */
export async function recordRun(
  t: Test,
  prepare: (service: Service) => Promise<void>,
  settings: Record<string, string> = {},
  shared?: Awaited<ReturnType<typeof testDatabase>>,
) {
  const limits = {
    TEST_HOST: 'localhost',
    LIMIT_WRITES_PER_DAY: '100000',
    LIMIT_BOOTSTRAP_ATTEMPTS: '100000',
    LIMIT_REGISTRATIONS_PER_DAY: '100000',
    LIMIT_MEMBERS: '100000',
  };
  const service = await startService(t, { ...limits, ...settings }, shared);
  // Skip the rebuild check: the history is generated, so a rebuild would prove nothing new.
  await service.tamper('SELECT 1');
  await prepare(service);
  const statements = recordStatements(t);
  const api = patient(service);
  const moderator = atDesk(api, await addModerator(service, 'Ann'));
  const lead = atDesk(api, await addModerator(service, 'Lea', 'lead'));
  const traffic = await createTraffic(api, { moderator, lead });
  const disabling = Map.groupBy(disablings({ api, lead }), ({ name }) =>
    name.endsWith('/appeal') ? 'appeal' : 'other',
  );
  const operations = [
    ...traffic,
    ...passkeys({ api, origin: service.baseUrl }),
    ...(disabling.get('other') ?? []),
  ];
  // Run the reads twice, since a page that was read before may be queried differently.
  const reads = operations.filter(({ name }) => name.startsWith('GET'));
  for (const { name, prepare } of [...operations, ...reads]) {
    const answer = await (await prepare())();
    t.ok(
      answer.status < 400,
      `${name}: ${answer.status} ${answer.status < 400 ? '' : answer.text}`,
    );
  }
  const agent = await newAgent(service);
  const { id: noteId } = await submit(service);
  await decide(moderator, noteId, 'approve');
  const records = [
    { type: 'note', id: noteId },
    await publishArtifact(agent),
    await publishCase(agent),
  ];
  await sealNow(service.core);
  // Found if the log is sealed.
  await agent.call('GET', '/api/v1/me/proofs');
  await moderator.get('audit/proofs');
  for (const { type, id } of records) await service.call('GET', `/log/proofs/${type}/${id}`);
  for (const path of ['checkpoint', 'tile/0/000', 'tile/0/000.p/1', 'tile/0/x001/x000/000'])
    await service.call('GET', `/log/${path}`);
  // The undo window of the disabling is not over, which an appeal waits for.
  for (const { prepare } of disabling.get('appeal') ?? [])
    t.equal((await (await prepare())()).status, 409);
  await openConsole(service, moderator.token);
  await followOverGap(service);
  await runJobs(service);
  const operate = createReport(
    { ...service.core, process: 'web', readModels: READ_MODELS },
    service.logger,
  );
  t.same(
    (await untilInTime(operate)).sections.filter(({ unread }) => unread),
    [],
    'the page for operators',
  );
  // A command of the operator; none of the notes, because to judge all of these takes a minute.
  await backtest(service.core.pool, WEIGHTS, { from: new Date('2999-01-01'), to: null }, () => {});
  return { service, statements };
}

/** Reads the moderators' stream until it has sent the counts of the queue. */
async function openConsole({ baseUrl }: Service, token: string): Promise<void> {
  const controller = new AbortController();
  const { body } = await fetch(`${baseUrl}/api/moderation/stream`, {
    headers: { authorization: `Bearer ${token}` },
    signal: controller.signal,
  });
  let text = '';
  for await (const chunk of body ?? []) {
    text += Buffer.from(chunk).toString();
    if (text.includes('event: counts')) break;
  }
  controller.abort();
}

/** Follows the log over positions that hold no event. */
async function followOverGap(service: Service): Promise<void> {
  const follower = createLogFollower(service.core.store.pool);
  await follower.read();
  const { rows } = await service.database.pool.query(newestPosition());
  await service.database.pool.query(
    `SELECT setval('events_position_seq', ${Number(rows[0]?.position) + 5000})`,
  );
  await newAgent(service);
  await follower.read();
}

/** Runs each job like a worker, with the data of a command that enqueued it, if any. */
async function runJobs({ core, database, logger }: Service): Promise<void> {
  const { rows } = await database.pool.query<{ name: string; data: object }>(
    `SELECT DISTINCT ON (name) name, data FROM pgboss.job WHERE data IS NOT NULL ORDER BY name, created_on, id`,
  );
  const given = new Map(rows.map(({ name, data }) => [name, data]));
  for (const { queue, schema, every, run } of JOBS) {
    const data = given.get(queue) ?? (every ? {} : undefined);
    if (data) await run(core, schema.parse(data), logger);
  }
}
