import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { testDatabase } from '../support/database.ts';
import { untilInTime } from '../support/operate.ts';
import { startProcess } from '../support/processes.ts';

t.test('web and worker serve /operate on the port of their metrics alone', async (t) => {
  const { url } = await testDatabase(t);
  const settings = {
    DATABASE_URL: url,
    SERVER_KEYS: `1:${'5e'.repeat(32)}`,
    METRICS_PORT: await freePort(),
    WORKER_METRICS_PORT: await freePort(),
  };
  const web = await startProcess(t, 'web', 'ignore', settings);
  const worker = await startProcess(t, 'worker', 'ignore', settings);
  await Promise.all([web.untilServes(), worker.untilServes()]);
  const read = (port: string) =>
    untilInTime(async () => {
      const headers = { accept: 'application/json' };
      return (await fetch(`http://127.0.0.1:${port}/operate`, { headers })).json();
    });
  const ofWeb = await read(settings.METRICS_PORT);
  t.match(ofWeb, {
    seen_by: 'web',
    process: {
      pid: web.child.pid,
      held_requests: [{ holder: 'credential', held: 0, limit: 5000 }],
      pools: [{ pool: 'write' }],
    },
    database: {
      processes: [
        { process: 'web', connections: Number },
        { process: 'worker', connections: Number },
      ],
    },
    warnings: [],
  });
  const ofWorker = await read(settings.WORKER_METRICS_PORT);
  t.match(ofWorker, { seen_by: 'worker', process: { pid: worker.child.pid } });
  for (const report of [ofWeb, ofWorker]) t.notMatch(JSON.stringify(report), /"unread"/);
  t.equal((await fetch(`${web.base}/operate`)).status, 404);
});
