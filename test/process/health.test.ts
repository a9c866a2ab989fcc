import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { testDatabase } from '../support/database.ts';
import { startProcess } from '../support/processes.ts';

const COMMAND = join(import.meta.dirname, '../../cli/health.ts');

/** Runs the command with these arguments and settings. */
const health = (args: string[], settings: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [COMMAND, ...args], {
    env: { ...INHERITED_ENV, ...settings },
  }).then(
    (output) => ({ code: 0, ...output }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

const HEALTHY = { code: 0, stdout: '', stderr: '' };

for (const [name, setting] of [
  ['web', 'PORT'],
  ['worker', 'WORKER_METRICS_PORT'],
] as const)
  t.test(`says whether ${name} runs, also while a migration locks tables`, async (t) => {
    const { url } = await testDatabase(t);
    const port = await freePort();
    const settings = { DATABASE_URL: url, [setting]: port };
    const { child, untilServes, end } = await startProcess(t, name, 'ignore', settings);
    await untilServes();
    t.same(await health([name], settings), HEALTHY);

    await withConnection(url, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE schema_migrations, events IN ACCESS EXCLUSIVE MODE');
      t.same(await health([name], settings), HEALTHY, 'stays healthy beside a migration');
      await client.query('ROLLBACK');
    });

    child.kill('SIGSTOP');
    const stuck = await health([name], settings);
    child.kill('SIGCONT');
    t.match(stuck, { code: 1, stdout: '', stderr: /does not answer: no answer within 5 s\n$/ });

    child.kill('SIGTERM');
    t.same(await end(), [0, null]);
    const gone = new RegExp(`^${name} at localhost:${port} does not answer: .*ECONNREFUSED`);
    t.match(await health([name], settings), { code: 1, stdout: '', stderr: gone });
  });

t.test('says which setting it needs, and refuses other processes', async (t) => {
  t.same(await health(['worker']), {
    code: 1,
    stdout: '',
    stderr: 'The port of worker is not known: set WORKER_METRICS_PORT\n',
  });
  t.match(await health(['release']), { code: 2, stderr: /^Unknown process 'release'\.\nUsage:\n/ });
  t.match(await health([]), { code: 2, stderr: /^An argument is missing\.\n/ });
});
