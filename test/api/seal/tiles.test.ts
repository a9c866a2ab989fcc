import { randomBytes } from 'node:crypto';
import t from 'tap';
import { sealLog } from '../../../domain/seal/jobs.ts';
import { submit } from '../../../harness/moderation.ts';
import { sealNow } from '../../support/sealed.ts';
import { startService } from '../../support/service.ts';
import { recordStatements } from '../../support/statements.ts';

// Statements are prepared once, so they are recorded from the beginning.
const statements = recordStatements(t);
const KEYS = `1:${randomBytes(32).toString('hex')}`;
const service = await startService(t, {
  SEAL_KEY: randomBytes(32).toString('hex'),
  SERVER_KEYS: KEYS,
});
await submit(service, { name: 'Grace Hopper', message: 'Words that no tile may show' });
// Events of a type that no read model knows.
await service.tamper(
  `INSERT INTO events (owner_id, stream_id, stream_version, event_id, type, data, actor, recorded_at)
   SELECT gen_random_uuid(), 'member-' || n, 1, gen_random_uuid(), 'Made', '{}', '{"type": "service"}',
     clock_timestamp() FROM generate_series(1, 300) n`,
);
await sealNow(service.core);
const get = (path: string, headers: Record<string, string> = {}) =>
  service.call('GET', path, { headers });

t.test('full tiles are immutable, partial ones and the checkpoint are revalidated', async (t) => {
  const full = await get('/log/tile/0/000');
  t.equal(full.status, 200);
  t.equal(full.headers.get('content-type'), 'application/octet-stream');
  t.match(full.headers.get('cache-control'), /immutable/);
  t.equal(full.headers.get('access-control-allow-origin'), '*');
  t.equal(full.headers.get('access-control-allow-credentials'), null);
  const partial = await fetch(`${service.baseUrl}/log/tile/0/001.p/5`);
  t.equal((await partial.arrayBuffer()).byteLength, 5 * 32, 'a width that the tile has');
  t.equal(partial.headers.get('cache-control'), 'no-cache');
  const checkpoint = await get('/log/checkpoint');
  t.equal(checkpoint.headers.get('cache-control'), 'no-cache');
  t.match(checkpoint.headers.get('content-type'), /^text\/plain/);
  for (const { headers, path } of [
    { headers: full.headers, path: '/log/tile/0/000' },
    { headers: partial.headers, path: '/log/tile/0/001.p/5' },
    { headers: checkpoint.headers, path: '/log/checkpoint' },
  ]) {
    const again = await get(path, { 'if-none-match': headers.get('etag') ?? '' });
    t.equal(again.status, 304, path);
  }
});

t.test('a tile has one address, and every other spelling is not found', async (t) => {
  const others = ['0/0', '00/000', '0/00', '0/x000/000', '0/000.p/256', '0/000.p/0', '0/000.p/01'];
  const absent = ['0/001', '0/999', '0/x999/x999/999', '1/000', '2/000.p/1', '63/000', '64/000'];
  const foreign = ['-1/000', 'entries/000', '0/000.p/5x', '0/%30%30%30x', '0/0x0', '0/000/000/000'];
  for (const path of [...others, ...absent, ...foreign])
    t.equal((await get(`/log/tile/${path}`)).status, 404, path);
  t.equal((await get('/log/tile/1/000.p/1')).status, 200, 'the root of the full tile');
});

t.test('an absent tile costs one look-up by its key, a malformed path none', async (t) => {
  const lookUps = () =>
    [...statements.values()].reduce(
      (sum, { text, times }) => (/seal_tiles/.test(text) ? sum + times : sum),
      0,
    );
  const before = lookUps();
  await get('/log/tile/0/900x');
  t.equal(lookUps(), before);
  await get('/log/tile/0/900');
  t.equal(lookUps(), before + 1);
});

t.test(
  'a thousand requests for absent tiles cost a look-up by key each, and nothing else',
  async (t) => {
    const times = () =>
      new Map([...statements.values()].map(({ text, times }) => [text, times] as const));
    await get('/log/tile/0/901');
    const before = times();
    for (let batch = 0; batch < 20; batch++)
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const { status } = await get(`/log/tile/0/x${100 + batch}/${100 + at}`);
          if (status !== 404) t.fail(`status ${status}`);
        }),
      );
    const after = [...times()].flatMap(([text, count]) => {
      const more = count - (before.get(text) ?? 0);
      return more > 0 && !text.includes('pg_stat') ? [[text, more] as const] : [];
    });
    t.equal(
      after.reduce((sum, [text, more]) => sum + (/seal_tiles/.test(text) ? more : 0), 0),
      1000,
    );
    for (const [text, more] of after)
      t.ok(/seal_tiles/.test(text) || more < 50, `${more} of ${text}`);
  },
);

t.test('no answer has more bytes than a full tile', async (t) => {
  const full = await fetch(`${service.baseUrl}/log/tile/0/000`);
  t.equal((await full.arrayBuffer()).byteLength, 8192);
  const { rows } = await service.database.pool.query(
    'SELECT max(octet_length(hashes)) AS most FROM seal_tiles',
  );
  t.ok(rows[0].most <= 8192);
});

t.test('a process without the key serves the log, and signs nothing', async (t) => {
  const web = await startService(t, { DATABASE_URL: service.database.url, SERVER_KEYS: KEYS });
  t.equal(web.core.config.sealKey, undefined);
  const before = (await get('/log/checkpoint')).text;
  await submit(service, { name: 'Ada', message: 'Not sealed by a web process' });
  t.same(await sealNow(web.core), { sealed: 0 });
  t.equal((await web.call('GET', '/log/checkpoint')).text, before);
  t.equal((await web.call('GET', '/log/tile/0/000')).status, 200);
  const { body } = await web.call('GET', '/api/v1/discovery');
  t.match(body.identity.log_keys, [/\/log\/1\+/], 'and names the key');
  t.equal((await sealNow(service.core)).sealed > 0, true);
  t.not((await web.call('GET', '/log/checkpoint')).text, before);
});

t.test('tiles and checkpoint show nothing of the events', async (t) => {
  const answers = await Promise.all(
    ['checkpoint', 'tile/0/000', 'tile/0/001.p/9'].map(async (path) =>
      Buffer.from(await (await fetch(`${service.baseUrl}/log/${path}`)).arrayBuffer()),
    ),
  );
  const { rows } = await service.database.pool.query('SELECT * FROM events ORDER BY position');
  const [first] = rows;
  const known = [first.owner_id, first.stream_id, first.event_id, first.type, 'Hopper', 'Words'];
  for (const text of known)
    t.notOk(
      answers.some((bytes) => bytes.includes(text)),
      text,
    );
  for (const id of [first.owner_id, first.event_id]) {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    t.notOk(
      answers.some((answer) => answer.includes(bytes)),
      `the bytes of ${id}`,
    );
  }
});

t.test('discovery and the page about the service name the key', async (t) => {
  const { body } = await get('/api/v1/discovery');
  const [key] = body.identity.log_keys;
  t.match(key, /^127\.0\.0\.1:\d+\/log\/1\+[0-9a-f]{8}\+\S{44}$/);
  t.ok((await get('/about')).text.includes(key));
});

t.test('says in public what leaves show, and adds many of them together', async (t) => {
  t.match(
    (await get('/policy.json')).text,
    'It shows how many events there are and when batches were added',
  );
  t.equal(sealLog.every, 60, 'seconds');
});

t.test('a refusal shows in the probe of readiness, which stays ready', async (t) => {
  t.same((await get('/readyz')).body, { status: 'ok' });
  const other = await startService(t, { SEAL_KEY: randomBytes(32).toString('hex') });
  await submit(other);
  await sealNow(other.core);
  await other.tamper("UPDATE seal_trees SET checkpoint = 'forged'");
  t.match(await sealNow(other.core), { alert: /not one that was signed/ });
  // A probe does not wait for a slow database, so a later one shows it.
  let probe = await other.call('GET', '/readyz');
  while (!('seal' in probe.body)) probe = await other.call('GET', '/readyz');
  t.equal(probe.status, 200);
  t.same(probe.body, { status: 'ok', seal: 'refused' });
  t.same((await other.call('GET', '/readyz?for=proxy')).body, { status: 'ok' });
});
