import { randomBytes } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { needs } from '../../harness/programs.ts';
import { publishArtifact, report } from '../../harness/records.ts';
import { ConfigError, readConfig } from '../../platform/config.ts';
import { callReceivers } from '../../services/notices/call-receivers.ts';
import { noticesJobs } from '../../workers/notices/jobs.ts';
import { isSigned, type ReceivedCall, startReceiver } from '../support/receiver.ts';
import { type Service, startService } from '../support/service.ts';
import { unpostponed } from '../support/unpostponed.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

/** Lets the next attempt be due now. */
const makeDue = ({ core }: Service) =>
  core.pool.query('UPDATE notice_receivers SET next_at = now()');

async function callNow(service: Service): Promise<Record<string, string>> {
  await makeDue(service);
  return callUnpostponed(service);
}

const callUnpostponed = async ({ core }: Service): Promise<Record<string, string>> =>
  (await unpostponed(() => callReceivers(core))).failures;

const messageOf = ({ body }: ReceivedCall) => JSON.parse(body);

/** Starts a service that calls these addresses, which begin at the present end of the log. */
async function startCalling(t: Parameters<typeof startService>[0], urls: string[], more = {}) {
  const secrets = urls.map(newSecret);
  const service = await startService(t, {
    NOTIFY_URLS: urls.join(','),
    NOTIFY_SECRETS: secrets.join(','),
    ...more,
  });
  await callUnpostponed(service);
  return { service, secrets };
}

const state = async ({ core }: Service) =>
  (
    await core.pool.query(`SELECT attempts, failure, position::int, pending IS NULL AS idle,
      next_at, clock_timestamp() AS now FROM notice_receivers`)
  ).rows[0];

t.test(
  'tells of notes, reports, appeals, an overdue queue and dead jobs, by counts and ids',
  async (t) => {
    const receiver = await startReceiver(t);
    const { service } = await startCalling(t, [`${receiver.url}/hook`]);
    t.same(receiver.calls, [], 'nothing happened before the first call');
    const [author, reporter] = [await newAgent(service), await newAgent(service)];
    const first = await submit(service, { name: 'Secret Name', message: 'Secret words' });
    const second = await submit(service);
    await decide(await addModerator(service, 'Ann'), first.id, 'approve');
    await service.call('POST', `/api/guestbook/${first.id}/report`, {
      body: { reason: 'abuse', details: 'Secret details' },
    });
    const packet = await publishArtifact(author, 'Secret title');
    await report(reporter, packet, { details: 'Secret details' });
    await service.core.pool.query(`INSERT INTO pgboss.job (name, data, source_name, created_on)
    VALUES ('dead-letters', '{"secret": true}', 'screen-note', now() - interval '10 seconds')`);
    await service.core.pool.query(
      "UPDATE notice_receivers SET dead_until = now() - interval '1 minute'",
    );
    t.same(await callNow(service), {});

    const message = messageOf(receiver.calls[0] as ReceivedCall);
    t.match(message, {
      type: 'moderation.notices',
      data: {
        notices: [
          { kind: 'waiting', count: 2, ids: [{ type: 'note', id: first.id }, { id: second.id }] },
          {
            kind: 'report',
            count: 2,
            ids: [{ id: first.id }, { type: 'artifact', id: packet.id }],
          },
          { kind: 'dead_job', count: 1, ids: [{ type: 'screen-note' }] },
        ],
        link: `${service.baseUrl}/moderation`,
      },
    });
    t.notMatch(JSON.stringify(receiver.calls[0]), new RegExp(`secret|Ann|${reporter.id}`, 'i'));
    t.same(await callNow(service), {});
    t.equal(receiver.calls.length, 1, 'an accepted message is not repeated');
  },
);

t.test(
  'signs so that another implementation of Standard Webhooks verifies it',
  needs('python3'),
  async (t) => {
    const receiver = await startReceiver(t);
    const { service, secrets } = await startCalling(t, [receiver.url]);
    await submit(service);
    await callNow(service);
    const { headers, body } = receiver.calls[0] as ReceivedCall;
    const verify = (given: string) => isSigned({ headers, body: given }, secrets[0] ?? '');
    t.equal(verify(body), true);
    t.equal(verify(body.replace('"count":1', '"count":2')), false);
    const sent = Number(headers['webhook-timestamp']);
    t.ok(Math.abs(Date.now() / 1000 - sent) < 300, 'receivers can refuse old timestamps');
  },
);

t.test(
  'repeats a message with its id until it is accepted, and gathers what came later',
  async (t) => {
    let status = 500;
    const receiver = await startReceiver(t, (response) => response.writeHead(status).end());
    const { service } = await startCalling(t, [receiver.url]);
    const before = await state(service);
    /** Calls once, and checks the wait from this call to the next attempt. */
    const waitsFor = async (seconds: number) => {
      const { now: earliest } = await state(service);
      const failures = await callNow(service);
      const { next_at: next, now: latest } = await state(service);
      const [least, most] = [(next - latest) / 1000, (next - earliest) / 1000];
      t.ok(least <= seconds && seconds <= most, `${seconds} s is between ${least} and ${most}`);
      return failures;
    };
    await submit(service);
    t.same(await waitsFor(10), { '1 127.0.0.1': 'status_500' });
    for (let n = 0; n < 3; n++) await submit(service);
    // At most 15 minutes apart.
    for (const seconds of [20, 40, 80, 160, 320, 640, 900, 900, 900, 900, 900])
      await waitsFor(seconds);
    t.match(await state(service), {
      position: before.position,
      attempts: 12,
      failure: 'status_500',
    });
    t.same(await callUnpostponed(service), {}, 'no attempt before the next is due');
    t.equal(receiver.calls.length, 12);

    status = 200;
    t.same(await callNow(service), {});
    t.match(await state(service), { attempts: 0, failure: null, idle: true });
    await callNow(service);
    const messages = receiver.calls.map(messageOf);
    const ids = receiver.calls.map(({ headers }) => headers['webhook-id']);
    t.equal(new Set(ids.slice(0, 13)).size, 1, 'each attempt has the same id');
    t.equal(new Set(receiver.calls.slice(0, 13).map(({ body }) => body)).size, 1);
    t.equal(messages[12].data.notices[0].count, 1);
    t.not(ids[13], ids[12]);
    t.equal(messages[13].data.notices[0].count, 3, 'later notices are one message');
    t.equal(receiver.calls.length, 14);
  },
);

t.test('does not let one receiver wait for another', async (t) => {
  const silent = await startReceiver(t, () => undefined);
  const receiver = await startReceiver(t);
  const { service } = await startCalling(t, [silent.url, receiver.url]);
  await submit(service);
  const calling = callNow(service);
  while (receiver.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(silent.calls.length <= 1, true);
  t.same(await calling, { '1 127.0.0.1': 'timeout' });
  t.equal(noticesJobs[0]?.queue, 'send-notices', 'and has a queue apart from all other jobs');
});

t.test('waits for a transaction that is still open rather than pass its events over', async (t) => {
  const receiver = await startReceiver(t);
  const { service } = await startCalling(t, [receiver.url]);
  const before = await state(service);
  const client = await service.database.pool.connect();
  await client.query('BEGIN; SELECT pg_current_xact_id()');
  await submit(service);
  await makeDue(service);
  t.same(await callReceivers(service.core), { failures: {}, postponed: true });
  t.same(receiver.calls, []);
  t.equal((await state(service)).position, before.position);
  await client.query('ROLLBACK');
  client.release();
  await callNow(service);
  t.equal(receiver.calls.length, 1);
});

t.test('has shapes for ntfy, Slack and Matrix', async (t) => {
  const receiver = await startReceiver(t);
  const { service } = await startCalling(
    t,
    ['ntfy', 'slack', 'matrix'].map((shape) => `${shape}+${receiver.url}/${shape}`),
  );
  await submit(service);
  await callNow(service);
  const to = (path: string) => receiver.calls.find((call) => call.path === path);
  const link = `${service.baseUrl}/moderation`;
  t.match(to('/ntfy'), { body: '1 note arrived', headers: { title: 'Moderation', click: link } });
  for (const path of ['/slack', '/matrix'])
    t.same(messageOf(to(path) as ReceivedCall), { text: `1 note arrived: ${link}` });
});

t.test('shows neither secret, path nor query of an address in log, job or database', async (t) => {
  const receiver = await startReceiver(t, (response) => response.writeHead(500).end());
  const { service, secrets } = await startCalling(t, [
    `${receiver.url}/path-word?token=query-word`,
  ]);
  await submit(service);
  await makeDue(service);
  const run = () => noticesJobs[0]?.run(service.core, {}, service.logger);
  let done = await run();
  while (JSON.stringify(done).includes('postponed')) done = await run();
  t.same(done, { failed: 1 });
  t.match(service.logged.join(''), /status_500/);
  const { rows } = await service.core.pool.query('SELECT * FROM notice_receivers');
  const kept = JSON.stringify([done, service.logged, rows]);
  const [secret = ''] = secrets;
  for (const word of ['path-word', 'query-word', secret.slice(6, 20)])
    t.notOk(kept.includes(word), word);
});

t.test('refuses addresses and secrets that are not safe', async (t) => {
  const faultsOf = (NOTIFY_URLS: string, NOTIFY_SECRETS = newSecret()) => {
    try {
      readConfig({ NOTIFY_URLS, NOTIFY_SECRETS });
      return [];
    } catch (error) {
      return error instanceof ConfigError ? error.faults : [String(error)];
    }
  };
  for (const url of [
    'https://hook.example/x',
    'http://localhost:9/x',
    'ntfy+https://ntfy.example/t',
  ])
    t.same(faultsOf(url), [], url);
  for (const url of [
    'http://hook.example/x',
    'http://10.0.0.1/',
    'https://user:word@hook.example/',
    'https://hook.example/#part',
    'ftp://hook.example/',
    'mail+https://hook.example/',
    'hook.example',
  ]) {
    const faults = faultsOf(url);
    t.match(faults[0], /^NOTIFY_URLS must be/, url);
    t.notMatch(faults.join(), /word|hook\.example/);
  }
  t.match(faultsOf('https://a.example', 'whsec_c2hvcnQ=')[0], /^NOTIFY_SECRETS must have/);
  t.match(faultsOf('https://a.example,https://b.example')[0], /^NOTIFY_SECRETS must have/);
});
