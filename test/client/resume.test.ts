import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { createFileStore } from '../../client/file-store.ts';
import type { UpdateEvent } from '../../client/wire.ts';
import { readCookie } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startService } from '../support/service.ts';

const KILLS = 9;
const EXAMPLE = join(import.meta.dirname, '../../client/example.ts');

t.test('records every event once and in order although it is killed repeatedly', async (t) => {
  const service = await startService(t);
  const { path, remove } = temporaryFolder('client');
  t.teardown(remove);
  const start = (...flags: string[]) => {
    const args = [EXAMPLE, service.baseUrl, path, '--limit=3', ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    return { kill: () => child.kill('SIGKILL'), ended };
  };
  const recorded = (): UpdateEvent[] => {
    const file = join(path, 'events.jsonl');
    const content = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const lines = content.slice(0, content.lastIndexOf('\n') + 1).split('\n');
    return lines.flatMap((line) => (line === '' ? [] : JSON.parse(line).events));
  };

  const first = start('--until-now');
  t.same(await first.ended, [0, null]);
  const { id, sign_in_key } = JSON.parse(readFileSync(join(path, 'identity.json'), 'utf8'));

  let writing = true;
  const writers = Array.from({ length: 3 }, async () => {
    while (writing) {
      const body = { id, sign_in_key };
      const login = await service.call('POST', '/api/membership/login', { body });
      const cookie = readCookie(login);
      await service.call('POST', '/api/membership/logout', { body: {}, cookie });
      await sleep(Math.random() * 40);
    }
  });
  let killed = 0;
  for (let round = 0; round < KILLS; round++) {
    const client = start();
    const before = recorded().length;
    // Kill it at a random time of its start or among its pages.
    if (round % 3 > 0) while (recorded().length < before + round * 2) await sleep(5);
    await sleep(Math.random() * 300);
    client.kill();
    const [, signal] = await client.ended;
    if (signal === 'SIGKILL') killed++;
  }
  writing = false;
  await Promise.all(writers);
  t.equal(killed, KILLS);

  const last = start('--until-now');
  t.same(await last.ended, [0, null]);
  const { rows } = await service.database.pool.query(
    'SELECT event_id, sequence::int FROM feed WHERE member_id = $1 ORDER BY sequence',
    [id],
  );
  t.ok(rows.length > 40, `${rows.length} events`);
  t.same(
    recorded().map((event) => ({ event_id: event.id, sequence: event.sequence })),
    rows,
  );
  const { rows: credentials } = await service.database.pool.query(
    'SELECT count(*)::int FROM credentials WHERE member_id = $1',
    [id],
  );
  t.same(credentials, [{ count: 1 }], 'one credential for all runs');
});

t.test('reports that it waits, and for how long', async (t) => {
  const service = await startService(t, { LIMIT_KEY_ATTEMPTS: '1' });
  const { path, remove } = temporaryFolder('client');
  t.teardown(remove);
  const start = (folder: string) =>
    spawn(process.execPath, [EXAMPLE, service.baseUrl, join(path, folder), '--until-now'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  t.same(await once(start('one'), 'exit'), [0, null]);
  const two = start('two');
  t.teardown(() => two.kill('SIGKILL'));
  const [said] = await once(two.stderr, 'data');
  t.match(
    String(said),
    /^POST http:\S+\/api\/membership\/register: 429 rate_limited: .*[^.], retrying in \d+ s\n$/,
  );
});

/** Runs the example and returns its exit status and output. */
async function run(...args: string[]) {
  const child = spawn(process.execPath, [EXAMPLE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, stdout, stderr };
}

t.test('prints the usage of the example and refuses other arguments', async (t) => {
  const help = await run('--help');
  t.match(help, { code: 0, stdout: /^Usage:\n {2}npm run -s agent/, stderr: '' });
  const wrong: [args: string[], stderr: string][] = [
    [['--limits=3'], "Unknown option '--limits'.\n"],
    [['localhost:3000'], '"localhost:3000" is not an http or https address.\n'],
    [['nonsense'], '"nonsense" is not an http or https address.\n'],
    [['http://localhost', 'a', 'b'], "Unexpected argument 'b'.\n"],
    [['--limit', '101'], '--limit must be a whole number from 1 to 100.\n'],
  ];
  for (const [args, stderr] of wrong) t.same(await run(...args), { code: 2, stdout: '', stderr });
});

t.test('names the address that does not answer', async (t) => {
  const { path, remove } = temporaryFolder('client');
  t.teardown(remove);
  const url = `http://localhost:${await freePort()}`;
  const child = spawn(process.execPath, [EXAMPLE, `${url}/`, path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const [said] = await once(child.stderr, 'data');
  t.equal(String(said), `no answer from ${url} (ECONNREFUSED), retrying in 1 s\n`);
});

t.test(
  'keeps every page that was saved when the disk is full in the middle of a line',
  async (t) => {
    const { path, remove } = temporaryFolder('client');
    t.teardown(remove);
    const module = new URL('../../client/file-store.ts', import.meta.url).href;
    const script = `
    const { createFileStore } = await import(process.argv[1]);
    const store = createFileStore(process.argv[2]);
    let saved = 0;
    try { for (;;) { store.savePage([], 'x'.repeat(1500)); saved++; } } catch {}
    console.log(saved);`;
    // A file of at most 16 blocks of 512 bytes, beyond which a write is short and the next one fails.
    const shell = `trap '' XFSZ; ulimit -f 16; exec "$0" --input-type=module -e "$1" "$2" "$3"`;
    const { stdout } = await promisify(execFile)('/bin/sh', [
      '-c',
      shell,
      process.execPath,
      script,
      module,
      path,
    ]);
    const store = createFileStore(path);
    t.ok(Number(stdout) > 0);
    t.equal(store.pages().length, Number(stdout));
    store.savePage([], 'after');
    t.equal(store.pages().at(-1)?.cursor, 'after');
  },
);
