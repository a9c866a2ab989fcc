import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { publishArtifact, publishProfile } from '../../../harness/records.ts';
import { createPool } from '../../../platform/postgres/pool.ts';
import { recordProof } from '../../../services/proving/last-proof.ts';
import { serveOperate, untilInTime } from '../../support/operate.ts';
import { sealNow } from '../../support/sealed.ts';
import { startService } from '../../support/service.ts';

const NOTICE_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const SECTIONS = [
  'process',
  'database',
  'log',
  'read_models',
  'seal',
  'jobs',
  'review',
  'erasures',
  'access',
  'limits',
  'keys',
  'replicas',
];

t.test('shows what an operator looks for, on a page and as JSON', async (t) => {
  const service = await startService(t, { SEAL_KEY: '5a'.repeat(32) });
  const { pool } = service.database;
  const { send, json } = await serveOperate(t, service);
  const agent = await newAgent(service);
  await publishProfile(agent);
  const moderator = await addModerator(service, 'Ann', 'lead');
  const { id } = await submit(service);
  await decide(moderator, id, 'approve');
  await sealNow(service.core);
  await submit(service);
  const at = new Date();
  await pool.query(recordProof(at, { divergent: 0, tables: [] }));
  await pool.query(`INSERT INTO pgboss.job (name, data, source_name) VALUES
    ('dead-letters', '{}', 'screen-note'), ('dead-letters', '{}', 'screen-note')`);
  await pool.query(`INSERT INTO pgboss.job (name, data, start_after)
    SELECT 'expire-sessions', '{}', now() - interval '1 hour' FROM generate_series(1, 120)`);
  const report = await untilInTime(json);
  t.same(Object.keys(report).slice(3), SECTIONS);
  t.notMatch(JSON.stringify(report), /unread/, 'every section was read');
  const { rows } = await pool.query('SELECT max(position)::int AS position FROM events');
  t.match(report, {
    seen_by: 'web',
    process: { name: 'web', log_lost: false },
    database: { postgresql: /^1[5-9]/, pending_migrations: 0, newer_migrations: 0 },
    log: { position: rows[0].position, epoch: 1, largest_stream: /^[a-z-]+-[0-9a-f-]{36}$/ },
    read_models: { proven_at: at.toISOString(), divergent_rows: 0 },
    seal: { sealed: true, refused: false, origin: /\/log\/1$/, waiting: { more: false } },
    access: {
      members: 1,
      sessions: { count: 0, more: false },
      moderators: [{ role: 'lead', moderators: 1 }],
    },
    keys: { server_keys: [{ key: 1, state: 'newest' }] },
    erasures: { members: { count: 0, more: false }, oldest: null },
    replicas: { configured: 0 },
  });
  t.match(report.jobs, {
    dead_letters: { count: 2, more: false },
    dead_letters_by_queue: [{ queue: 'screen-note', jobs: { count: 2 } }],
  });
  t.match(
    report.jobs.queues.find(({ queue }: { queue: string }) => queue === 'expire-sessions'),
    { waiting: { count: 120, more: false }, active: { count: 0 } },
  );
  t.ok(report.log.largest_stream_events >= 1);
  t.ok(report.read_models.tables.some(({ table }: { table: string }) => table === 'notes'));
  const texts = report.warnings.map(({ text }: { text: string }) => text);
  t.ok(texts.includes('Jobs failed for the last time: 2.'));
  t.ok(texts.includes('Jobs of expire-sessions have been due for 15 minutes: 120.'));

  const page = await untilInTime(() =>
    send({ accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }),
  );
  t.match(page.headers['content-type'], /^text\/html/);
  for (const name of SECTIONS) t.match(page.text, `<section id="${name}"`);
  t.match(page.text, '<dt>Dead letters</dt><dd>2</dd>');
  t.match(page.text, 'npm run dead-letters -- again');
  t.match(page.text, `<dt>Origin</dt><dd>${report.seal.origin}</dd>`);
  t.notMatch(page.text, /<script|<form|<button|<input/, 'nothing to run and nothing to send');
  t.match((await send()).headers['content-type'], /^text\/html/, 'curl gets the page');
});

t.test('shows no word, name, address or secret', async (t) => {
  const service = await startService(t, {
    NOTIFY_URLS: 'https://chat.example/hooks/s3cret-token',
    NOTIFY_SECRETS: NOTICE_SECRET,
  });
  const { send } = await serveOperate(t, service);
  const agent = await newAgent(service);
  const moderator = await addModerator(service, 'Grace Hidden');
  const packet = await publishArtifact(agent);
  const body = { id: randomUUID(), name: 'Guesty McGuest', message: 'Hello <b>secret</b> words' };
  await service.call('POST', '/api/guestbook', { body });
  const { rows } = await service.database.pool.query(
    `SELECT handle FROM members UNION ALL SELECT title FROM artifacts UNION ALL SELECT label FROM credentials
     UNION ALL SELECT hash FROM verifiers UNION ALL SELECT bucket FROM rate_counters`,
  );
  const hidden = [
    ...rows.map(({ handle }) => handle).filter((text) => text && text !== 'service'),
    ...[
      agent.credential.credential_secret,
      agent.handle,
      moderator.token,
      body.name,
      body.message,
      'secret words',
      'Grace',
      packet.id,
    ],
    ...[
      's3cret-token',
      NOTICE_SECRET.slice(6),
      service.database.url,
      new URL(service.database.url).password || 'postgres:',
    ],
  ];
  t.ok(hidden.length > 10);
  for (const accept of ['text/html', 'application/json']) {
    const { text } = await send({ accept });
    for (const word of hidden) t.notOk(text.includes(word), `${accept} has no ${word}`);
  }
});

t.test('answers hostile requests with nothing', async (t) => {
  const service = await startService(t);
  const { base, send } = await serveOperate(t, service);
  const { port } = new URL(base);
  for (const host of [
    '127.0.0.1',
    `127.0.0.1:${port}`,
    'localhost',
    `LOCALHOST:${port}`,
    '[::1]:80',
  ])
    t.equal((await send({ host })).status, 200, host);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'localhost.',
    '127.0.0.1@evil.example',
    'evil.example#127.0.0.1',
    'evil.example/127.0.0.1',
    '[::1].evil.example',
    '127.0.0.1:80:80',
    '127.0.0.1 evil.example',
    '%6c%6f%63%61%6c%68%6f%73%74',
    'x'.repeat(4000),
  ]) {
    const { status, text } = await send({ host });
    t.ok([400, 421].includes(status), `${host.slice(0, 40)}: ${status}`);
    t.notMatch(text, /section|position/);
  }
  for (const site of ['cross-site', 'same-site'])
    for (const destination of ['empty', 'script', 'image', 'iframe', 'frame', 'object', 'embed'])
      t.equal(
        (await send({ 'sec-fetch-site': site, 'sec-fetch-dest': destination })).status,
        403,
        `${site} ${destination}`,
      );
  const linked = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' };
  t.equal((await send(linked)).status, 200, 'a link from elsewhere');
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
    const { status, headers } = await send({ origin: 'http://evil.example' }, { method });
    t.equal(status, 405, method);
    t.equal(headers['access-control-allow-origin'], undefined);
  }
  for (const path of [
    '//operate',
    '/operate/',
    '/Operate',
    '/operate/../operate',
    `${base}/operate`,
    '/%6fperate',
  ])
    t.equal((await send({}, { path })).status, 404, path);
  const strange = `/operate?${'<script>alert(1)</script>&again=all'}`;
  t.notMatch((await send({}, { path: strange })).text, /alert|again=all/);
  for (const accept of [
    'application/json;q=0',
    ';;;,,,',
    `application/json${',x'.repeat(4000)}`,
    '\u00e9',
  ])
    t.equal((await send({ accept })).status, 200, accept.slice(0, 30));
  const { headers, text } = await send({}, { method: 'HEAD' });
  t.equal(text, '');
  t.match(headers, {
    'content-security-policy': /^default-src 'none'; style-src 'sha256-.*frame-ancestors 'none'$/,
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
});

t.test('is not on the public port', async (t) => {
  const service = await startService(t);
  const { base } = await serveOperate(t, service);
  for (const headers of [
    {},
    { host: new URL(base).host },
    { 'x-forwarded-host': new URL(base).host },
  ])
    for (const path of ['/operate', '//operate', '/operate?x', '/metrics'])
      t.equal((await fetch(`${service.baseUrl}${path}`, { headers })).status, 404, path);
});

t.test('says that PostgreSQL is away, and shows what the process knows', async (t) => {
  const service = await startService(t);
  const pool = createPool('postgres://nobody@127.0.0.1:1/none', 'test', 1);
  t.teardown(() => pool.end());
  const { send, json } = await serveOperate(t, service, { pool });
  const report = await json();
  t.match(report.process, { name: 'web', pid: process.pid, log_lost: false });
  t.match(report.warnings, [{ section: 'process', text: 'PostgreSQL does not answer.' }]);
  for (const name of SECTIONS.slice(1, -1))
    t.same(report[name], { unread: 'PostgreSQL does not answer.' }, name);
  const { status, text } = await send();
  t.equal(status, 200);
  t.match(text, /Not read: PostgreSQL does not answer\./);
});
