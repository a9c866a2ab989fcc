import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { appendFileSync, chownSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, promisify } from 'node:util';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { createCertificate } from '../../harness/certificate.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { needs } from '../../harness/programs.ts';
import { promote, type Server, severalHosts } from '../../harness/standby.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { withClient } from '../../platform/postgres/pool.ts';
import { asJob, deadline } from '../../platform/postgres/request-deadline.ts';
import { startServers } from '../support/failing-over.ts';
import { keepRequestTime } from '../support/request-time.ts';
import { startService } from '../support/service.ts';
import { untilReadyz } from '../support/until-readyz.ts';
import { startWorker } from '../support/worker.ts';

keepRequestTime(t);

/** Uses every connection that the pool may have, as a job, which has more time than a request. */
const useAll = (pool: pg.Pool): Promise<unknown> =>
  asJob(() => {
    const use = () =>
      withClient(pool, deadline(), (client) => client.query('SELECT pg_sleep(0.2)'));
    return Promise.all(Array.from({ length: pool.options.max }, use));
  });

/** Resolves once the worker has screened this many notes. */
async function untilScreened({ url }: Server, count: number): Promise<void> {
  await withConnection(url, async (client) => {
    while ((await client.query('SELECT FROM note_screenings')).rowCount !== count) await sleep(50);
  });
}

/**
 * Connects until the promoted server is found, which a connection may miss if it answers much later than the old primary.
 * Once it has answered, every connection leads there.
 */
async function findsPromoted<Found>(t: Test, find: () => Promise<Found>, promoted: Found) {
  for (let turn = 0; turn < 20; turn++) if (isDeepStrictEqual(await find(), promoted)) break;
  for (let turn = 0; turn < 5; turn++) t.same(await find(), promoted);
}

const KEYS = { SERVER_KEYS: `1:${randomBytes(32).toString('hex')}` };
const newNote = () => ({ body: { id: randomUUID(), message: 'Hello' } });

t.test('gives up connections to a standby once a write meets one', async (t) => {
  const { primary, standby } = await startServers(t);
  const proxy = await wireProxy(t, primary.url);
  const { call, core } = await startService(t, { DATABASE_URL: proxy.url });
  t.match(await call('POST', '/api/guestbook', newNote()), { status: 202 });

  proxy.redirect(standby.url);
  t.match(await call('POST', '/api/guestbook', newNote()), {
    status: 503,
    body: { error: { code: 'storage_unavailable' } },
  });

  await useAll(core.pool);
  proxy.aim(primary.url);
  t.match(await call('POST', '/api/guestbook', newNote()), { status: 202 }, 'at the first try');
});

t.test('finds the host that accepts writes, before and after a failover', async (t) => {
  const { primary, standby, stopPrimary } = await startServers(t);
  const settings = { DATABASE_URL: severalHosts([standby, primary]), ...KEYS };
  const { call } = await startService(t, settings);
  await startWorker(t, { ...settings, LOG_LEVEL: 'silent' });
  const submit = () => call('POST', '/api/guestbook', newNote());
  t.match(await submit(), { status: 202 });
  t.match(await call('GET', '/readyz'), { status: 200 });
  await untilScreened(primary, 1);

  await stopPrimary();
  t.match(await submit(), { status: 503, body: { error: { code: 'storage_unavailable' } } });
  await untilReadyz({ call }, 503);
  t.match(await call('GET', '/readyz?for=proxy'), { status: 200 });
  await promote(standby);
  await untilReadyz({ call }, 200);
  t.match(await submit(), { status: 202 });
  await untilScreened(standby, 2);
});

t.test('leaves an old primary that accepts writes beside the promoted standby', async (t) => {
  const { primary, standby } = await startServers(t);
  const proxy = await wireProxy(t, standby.url);
  const address = severalHosts([primary, proxy]);
  const { call, core } = await startService(t, { DATABASE_URL: address });
  await useAll(core.pool);
  const submit = async () => {
    const { body } = newNote();
    return { id: body.id, ...(await call('POST', '/api/guestbook', { body })) };
  };
  const hasNote = ({ url }: Server, id: string) =>
    withConnection(url, async (client) => {
      return (await client.query('SELECT FROM notes WHERE note_id = $1', [id])).rowCount === 1;
    });
  const before = await submit();
  t.ok(await hasNote(primary, before.id));

  await promote(standby);
  const portOf = (client: pg.Client) => client.query('SHOW port').then(({ rows }) => rows[0].port);
  await findsPromoted(t, () => withConnection(address, portOf), new URL(standby.url).port);
  const after = await submit();
  t.match(after, { status: 202 });
  t.same([await hasNote(primary, after.id), await hasNote(standby, after.id)], [false, true]);

  proxy.redirect('postgres://127.0.0.1:1');
  t.match(await submit(), { status: 503, body: { error: { code: 'storage_unavailable' } } });
  await t.rejects(withConnection(address, portOf), {
    message: /127\.0\.0\.1:\d+: an old primary on timeline 1, as timeline 2 exists; /,
  });
});

/** Makes a server answer with a certificate for `name`; returns the certificate's file. */
async function useCertificate({ url, dataDir }: Server, name: string): Promise<string> {
  const data = join(dataDir, 'postgres', 'data');
  const { cert, key } = createCertificate(data, name);
  const { uid, gid } = statSync(data);
  for (const file of [cert, key]) chownSync(file, uid, gid);
  await withConnection(url, async (client) => {
    await client.query(`ALTER SYSTEM SET ssl_cert_file = '${cert}'`);
    await client.query(`ALTER SYSTEM SET ssl_key_file = '${key}'`);
    await client.query('ALTER SYSTEM SET ssl = on');
    await client.query('SELECT pg_reload_conf()');
    while ((await client.query('SHOW ssl_cert_file')).rows[0].ssl_cert_file !== cert)
      await sleep(20);
  });
  return cert;
}

t.test("checks each host's certificate by its own name", needs('openssl'), async (t) => {
  const { primary, standby } = await startServers(t);
  const authorities = join(primary.dataDir, 'authorities');
  const trust = async (server: Server, name: string) =>
    appendFileSync(authorities, readFileSync(await useCertificate(server, name)));
  await trust(primary, 'DNS:localhost');
  await trust(standby, 'IP:127.0.0.1');
  const byName = { url: primary.url.replace('127.0.0.1', 'localhost') };
  const address = `${severalHosts([byName, standby])}?sslmode=verify-full&sslrootcert=${authorities}`;
  const serverOf = () =>
    withConnection(address, async (client) => {
      const { rows } = await client.query<{ port: string; ssl: boolean }>(
        `SELECT current_setting('port') AS port, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
      );
      return rows[0];
    });
  t.same(await serverOf(), { port: new URL(primary.url).port, ssl: true });
  await promote(standby);
  await findsPromoted(t, serverOf, { port: new URL(standby.url).port, ssl: true });

  await trust(standby, 'DNS:localhost');
  await t.rejects(serverOf(), {
    message: /localhost:\d+: an old primary .*; 127\.0\.0\.1:\d+: Hostname\/IP does not match/,
  });
});

t.test('commands take an address with several hosts', async (t) => {
  const { primary, standby } = await startServers(t);
  const env = { ...INHERITED_ENV, DATABASE_URL: severalHosts([standby, primary]), ...KEYS };
  const run = (file: string, ...args: string[]) =>
    promisify(execFile)(process.execPath, [file, ...args], { env });
  for (const [file, ...args] of [
    ['services/release.ts'],
    ['cli/moderator.ts', 'add', 'ann', '--role', 'lead'],
    ['cli/keys.ts', 'status'],
    ['cli/dead-letters.ts', 'again'],
    ['cli/dead-letters.ts', 'list'],
    ['cli/rebuild.ts'],
    ['cli/restored.ts'],
  ] as const)
    await t.resolves(run(file, ...args), file);
});
