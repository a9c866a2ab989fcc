import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { newRegistration } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';

const ROOT = join(import.meta.dirname, '../..');
const READY_MS = 60_000;
const SCREENED_MS = 120_000;

/** Runs the script of `npm start` with the given Node, on an existing database. */
async function startWith(t: Test, node: string) {
  const { url, pool } = await testDatabase(t);
  const port = await freePort();
  const child: ChildProcess = spawn(node, ['services/start.ts'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: url,
      PORT: port,
      METRICS_PORT: '0',
      SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += String(chunk);
    });
  const exit = once(child, 'exit');
  for (const end = Date.now() + READY_MS; !output.includes('Ready: '); await sleep(50))
    if (Date.now() > end || child.exitCode !== null) throw new Error(`not ready:\n${output}`);
  return { child, exit, pool, base: `http://localhost:${port}`, output: () => output };
}

for (const major of ['22', '24']) {
  const node = process.env[`NODE_${major}`];
  const skip = node ? false : `NODE_${major} is not set to the path of a Node ${major}`;
  t.test(`serves, works and drains on Node ${major}`, { skip }, async (t) => {
    const { child, exit, pool, base, output } = await startWith(t, node as string);
    t.equal((await fetch(`${base}/readyz`)).status, 200);
    const post = async (path: string, body: object) => {
      const headers = { origin: base, 'content-type': 'application/json' };
      const options = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(base + path, options)).status;
    };
    t.equal(await post('/api/membership/register', newRegistration()), 200);
    const note = { id: randomUUID(), name: 'Ada', message: 'Hello' };
    t.equal(await post('/api/guestbook', note), 202);
    const screened = async () =>
      (await pool.query("SELECT FROM events WHERE type = 'NoteScreened'")).rowCount === 1;
    for (const end = Date.now() + SCREENED_MS; !(await screened()); await sleep(100))
      if (Date.now() > end) throw new Error(`the note was not screened:\n${output()}`);
    t.equal((await fetch(`${base}/`)).status, 200, 'the pages are built');
    child.kill('SIGTERM');
    t.same(await exit, [0, null], output());
  });
}
