import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { testDatabase } from '../support/database.ts';

const WEB = join(import.meta.dirname, '../../services/web.ts');

t.test('gives each write one effect after a kill and exact retries', async (t) => {
  const { url, pool } = await testDatabase(t);
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const env = {
    ...INHERITED_ENV,
    DATABASE_URL: url,
    PORT: port,
    METRICS_PORT: '0',
    BASE_URL: baseUrl,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    LIMIT_NOTES_PER_TEN_MINUTES: '100000',
    LIMIT_NOTES_PER_DAY: '100000',
  };
  const running: ChildProcess[] = [];
  t.teardown(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  async function start(): Promise<ChildProcess> {
    const child = spawn(process.execPath, [WEB], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    running.push(child);
    for (const end = Date.now() + 180_000; child.exitCode === null && Date.now() < end; ) {
      const ready = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
      if (ready?.status === 200) return child;
      await sleep(50);
    }
    throw new Error('the web process did not become ready');
  }

  const submit = async (id: string): Promise<number> => {
    const answer = await fetch(`${baseUrl}/api/guestbook`, {
      method: 'POST',
      headers: { origin: baseUrl, 'content-type': 'application/json' },
      body: JSON.stringify({ id, message: `Note ${id}` }),
    });
    await answer.text();
    return answer.status;
  };

  // Writers continue until a request gets no answer, so that the kill interrupts writes.
  const answered = new Map<string, number>();
  const write = async (): Promise<void> => {
    for (let status = 202; status !== 0; ) {
      const id = randomUUID();
      status = await submit(id).catch(() => 0);
      answered.set(id, status);
    }
  };
  const child = await start();
  const writers = Promise.all(Array.from({ length: 20 }, write));
  while ([...answered.values()].filter((status) => status === 202).length < 100) await sleep(5);
  child.kill('SIGKILL');
  await writers;
  const ids = [...answered.keys()];

  await start();
  // A busy machine may answer 503, which permits the same request again.
  const retry = async (id: string): Promise<number> => {
    let status = await submit(id);
    for (; status === 503; status = await submit(id)) await sleep(500);
    return status;
  };
  const again = await Promise.all(ids.map(retry));
  t.ok(
    again.every((status) => status === 200 || status === 202),
    'every retry is answered',
  );
  ids.forEach((id, index) => {
    if (answered.get(id) === 202 && again[index] !== 200) t.fail('an accepted note was lost');
  });
  const { rows } = await pool.query(
    'SELECT count(*)::int AS events, count(DISTINCT stream_id)::int AS notes FROM events',
  );
  t.same(rows, [{ events: ids.length, notes: ids.length }]);
});
