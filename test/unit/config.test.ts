import { execFile } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { ConfigError, readConfig, unknownSettings } from '../../platform/config.ts';

import { serverKeys } from '../../platform/keys/server-keys.ts';
import { addressesOf } from '../../platform/postgres/addresses.ts';
import { signingKey, verifierText } from '../../platform/tlog/note.ts';
import { createWitnessKey } from '../support/witness.ts';

const one = `1:${'ab'.repeat(32)}`;
const two = `2:${'cd'.repeat(32)}`;

function faults(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
  }
  throw new Error('the configuration was accepted');
}

t.test('needs no settings for a first run', async (t) => {
  const config = readConfig({});
  t.equal(config.baseUrl, 'http://localhost:3000');
  t.equal(config.host, '127.0.0.1');
  t.equal(config.metricsPort, 4000);
  t.equal(config.workerMetricsPort, 0);
  t.equal(config.limitMembers, 1000);
  t.equal(config.apiOpen, true);
  t.equal(config.databaseUrl, undefined);
  t.ok(Object.isFrozen(config));
});

t.test('treats an empty variable as unset', async (t) => {
  t.same(readConfig({ PORT: '', BASE_URL: ' ', DATABASE_URL: '' }), readConfig({}));
});

t.test('parses values into their types', async (t) => {
  const config = readConfig({
    PORT: '8080',
    API_OPEN: 'false',
    DATABASE_URL: 'postgres://u:p@db/x',
    BASE_URL: 'https://Example.org/',
    SERVER_KEYS: `${two},${one}`,
    METRICS_PORT: '0',
  });
  t.equal(config.port, 8080);
  t.equal(config.apiOpen, false);
  t.equal(config.databaseDirectUrl, 'postgres://u:p@db/x');
  t.equal(config.baseUrl, 'https://example.org');
  t.equal(config.host, '0.0.0.0');
  t.equal(config.metricsPort, 0);
  t.same(
    serverKeys(config).map((key) => key.id),
    [2, 1],
  );
});

t.test('names every fault together, also across fields', async (t) => {
  const message = faults({ PORT: '-1', API_OPEN: 'yes', DATABASE_READ_URL: 'postgres://r/x' });
  for (const name of ['PORT', 'API_OPEN', 'DATABASE_READ_URL']) t.match(message, `${name} `);
});

t.test('listens on the loopback address of BASE_URL', async (t) => {
  t.equal(readConfig({ BASE_URL: 'http://[::1]:4115' }).host, '::1');
  t.equal(readConfig({ BASE_URL: 'http://127.1.2.3' }).host, '127.1.2.3');
  t.equal(readConfig({ BASE_URL: 'http://a.localhost' }).host, '127.0.0.1');
  t.equal(readConfig({ BASE_URL: 'http://[::1]', HOST: '127.0.0.1' }).host, '127.0.0.1');
});

t.test('refuses the same port for two servers of a process', async (t) => {
  t.match(faults({ PORT: '4115', METRICS_PORT: '4115' }), 'METRICS_PORT must be another one');
  t.match(faults({ METRICS_PORT: '3000' }), 'METRICS_PORT must be another one');
  t.equal(readConfig({ PORT: '4115', METRICS_PORT: '0' }).metricsPort, 0);
  t.equal(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort, 0, 'port 0 may be used twice');
});

t.test('names no secret in a message', async (t) => {
  const secret = 'f00d'.repeat(15);
  const message = faults({ SERVER_KEYS: `1:${secret}`, DATABASE_URL: `mysql://u:${secret}@db/x` });
  t.match(message, 'SERVER_KEYS must list keys newest first');
  t.match(message, 'DATABASE_URL must be an address of the form');
  t.notMatch(message, secret);
});

t.test('requires a host or a database in a database address', async (t) => {
  for (const DATABASE_URL of ['postgres://', 'postgres:///', 'postgres:x', 'db:5432/x'])
    t.match(faults({ DATABASE_URL }), 'DATABASE_URL must be an address of the form', DATABASE_URL);
  for (const url of ['postgres://db', 'postgresql://u:p@db:5432/x', 'postgres:///x?host=/tmp'])
    t.equal(readConfig({ DATABASE_URL: url, SERVER_KEYS: one }).databaseUrl, url);
});

t.test('takes a database address with several hosts', async (t) => {
  const hosts = ['db1:5432,db2:5433', 'db1,db2', '[::1]:5432,db2', '10.0.0.1,10.0.0.2:6432,db3'];
  for (const host of hosts) {
    const url = `postgres://u:a,b@${host}/x?sslmode=verify-full`;
    t.equal(readConfig({ DATABASE_URL: url, SERVER_KEYS: one }).databaseUrl, url);
  }
  for (const host of ['db1,', ',db2', 'db1,,db2', 'db1:x,db2', 'db1,db2:99999'])
    t.match(faults({ DATABASE_URL: `postgres://u:p@${host}/x` }), 'must be an address of the form');
  const url = 'postgres://u:p@db1:5432,db2:5433/x?sslmode=prefer';
  t.match(faults({ DATABASE_URL: url }), 'sslmode that accepts any server');
});

t.test('splits an address with several hosts', async (t) => {
  t.same(addressesOf('postgres://u:p@db1:5432,[::1]/x?sslmode=verify-full'), [
    'postgres://u:p@db1:5432/x?sslmode=verify-full',
    'postgres://u:p@[::1]/x?sslmode=verify-full',
  ]);
  for (const url of ['postgres://u:a,b@db/x,y', 'postgres:///x?host=/a,b', 'postgres://db'])
    t.same(addressesOf(url), [url]);
});

t.test('allows plain http only on loopback and requires an origin', async (t) => {
  for (const origin of ['http://127.1.2.3:3000', 'http://[::1]:3000', 'http://a.localhost'])
    t.equal(readConfig({ BASE_URL: origin }).baseUrl, origin);
  const keys = { SERVER_KEYS: one };
  t.match(faults({ BASE_URL: 'http://example.org', ...keys }), 'BASE_URL must be https');
  t.match(faults({ BASE_URL: 'http://127.0.0.1.example.org', ...keys }), 'must be https');
  t.match(faults({ BASE_URL: 'https://example.org/path', ...keys }), 'must be an origin');
  t.match(faults({ BASE_URL: 'example.org', ...keys }), 'must be an origin');
});

t.test('requires valid, distinct server keys off loopback', async (t) => {
  t.match(faults({ BASE_URL: 'https://example.org' }), 'SERVER_KEYS is required');
  for (const keys of [`${one},${one}`, one.slice(0, -1), `${one},`, `0:${'ab'.repeat(32)}`, 'ab'])
    t.match(faults({ SERVER_KEYS: keys }), 'SERVER_KEYS must list', keys);
});

t.test('creates one key when processes start together on an empty folder', async (t) => {
  const { path: folder, remove } = temporaryFolder('config');
  t.teardown(remove);
  const dataDir = join(folder, 'deep', 'data');
  const script = `
    const { serverKeys } = await import(process.argv[1]);
    const [key] = serverKeys({ dataDir: process.argv[2] });
    console.log(key.id, key.secret.toString('hex'));`;
  const module = new URL('../../platform/keys/server-keys.ts', import.meta.url).href;
  const runs = Array.from({ length: 6 }, () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, module, dataDir]),
  );
  const made = new Set((await Promise.all(runs)).map((run) => run.stdout));
  t.equal(made.size, 1);
  t.same(readdirSync(dataDir), ['server-keys']);
  t.equal(statSync(join(dataDir, 'server-keys')).mode & 0o777, 0o600);
  t.equal(statSync(join(folder, 'deep')).mode & 0o777, 0o755 & ~process.umask());

  writeFileSync(join(dataDir, 'server-keys'), 'nonsense');
  t.throws(() => serverKeys(readConfig({ DATA_DIR: dataDir })), /is damaged/);
});

t.test('reads secrets from files', async (t) => {
  const folder = temporaryFolder('secrets');
  t.teardown(folder.remove);
  const file = join(folder.path, 'keys');
  writeFileSync(file, `${one}\n`);
  t.same(
    readConfig({ SERVER_KEYS_FILE: file }).serverKeys,
    readConfig({ SERVER_KEYS: one }).serverKeys,
  );
  t.match(
    faults({ SERVER_KEYS_FILE: file, SERVER_KEYS: one }),
    'SERVER_KEYS and SERVER_KEYS_FILE are both set',
  );
  t.match(
    faults({ DATABASE_URL_FILE: join(folder.path, 'none') }),
    'DATABASE_URL_FILE cannot be read: ENOENT',
  );
  writeFileSync(file, '');
  t.match(faults({ SERVER_KEYS_FILE: file }), 'SERVER_KEYS_FILE is empty');
});

t.test('refuses database addresses whose TLS would accept any server', async (t) => {
  const url = 'postgres://user:password@db.example/service';
  for (const mode of ['no-verify', 'allow', 'prefer'])
    t.match(faults({ DATABASE_URL: `${url}?sslmode=${mode}` }), 'sslmode that accepts any server');
  const withTls = (parameters: string) => ({ DATABASE_URL: `${url}?${parameters}` });
  for (const parameters of [
    'ssl=no-verify',
    'uselibpqcompat=true&sslmode=require',
    'sslmode=verify-full&sslmode=no-verify',
  ])
    t.match(faults(withTls(parameters)), 'that accepts any server', parameters);
  t.match(faults(withTls('sslmode=verify-full&sslrootcert=/none')), 'cannot be used: ENOENT');
  t.match(
    faults({ DATABASE_URL: url, PGSSLMODE: 'no-verify' }),
    'PGSSLMODE must not accept any server',
  );
  for (const direct of ['DATABASE_DIRECT_URL', 'DATABASE_READ_URL'])
    t.match(faults({ DATABASE_URL: url, [direct]: `${url}?ssl=no-verify` }), direct);
  for (const mode of ['verify-full', 'disable'])
    t.ok(readConfig({ DATABASE_URL: `${url}?sslmode=${mode}` }).databaseUrl);
});

t.test('names misspelt settings, and no variables of others', async (t) => {
  const env = {
    LIMIT_WRITE_PER_DAY: '5',
    RETENTION_SESSION_DAYS: '9',
    LIMIT_WRITES_PER_DAY: '5',
    DATABASE_URL_FILE: '/run/url',
    METRICS_PORT: '0',
    HOME: '/',
  };
  t.same(unknownSettings(env), ['LIMIT_WRITE_PER_DAY', 'RETENTION_SESSION_DAYS']);
});

t.test('takes the words of the site, each in one line', async (t) => {
  const name = `Stadtbuch ${'👩🏽‍🚀'.repeat(5)}`;
  t.equal(readConfig({ SITE_NAME: name }).siteName, name);
  t.equal(readConfig({}).siteName, 'Guestbook');
  for (const [setting, text] of [
    ['SITE_NAME', 'x'.repeat(41)],
    ['SITE_NAME', '\u200b\u2060'],
    ['SITE_ABOUT', 'two\nlines'],
    ['SITE_ABOUT_TWO_CLERKS', 'x'.repeat(201)],
  ] as const)
    t.throws(() => readConfig({ [setting]: text }), {
      message: RegExp(`${setting} must be one line`),
    });
});

t.test('takes pairs of a key and an address as witnesses of the log', async (t) => {
  const key = createWitnessKey('witness.example/w1', 7).vkey;
  const second = createWitnessKey('witness.example/w2', 8).vkey;
  const read = (text: string) => readConfig({ LOG_WITNESSES: text }).logWitnesses;
  t.same(readConfig({}).logWitnesses, []);
  t.match(read(`${key} https://w1.example/log,${second} http://127.0.0.1:7380`), [
    { key: { name: 'witness.example/w1' }, url: { href: 'https://w1.example/log' } },
    { key: { name: 'witness.example/w2' }, url: { hostname: '127.0.0.1' } },
  ]);
  const log = verifierText('witness.example/w1', signingKey(Buffer.alloc(32, 7)));
  for (const wrong of [
    key,
    'https://w1.example',
    `${log} https://w1.example`,
    `${key.replace('w1', 'w3')} https://w1.example`,
    `${key} http://w1.example`,
    `${key} https://user@w1.example`,
    `${key} https://w1.example?a=b`,
    `${key} ftp://127.0.0.1`,
    `${key} https://w1.example, ${key} https://w2.example`,
    `${key} https://w1.example more`,
    `${key} https://w1.example,`,
  ])
    t.match(faults({ LOG_WITNESSES: wrong }), /LOG_WITNESSES must be/, wrong);
});
