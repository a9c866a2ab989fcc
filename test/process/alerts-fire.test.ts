import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Api, createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { submit } from '../../harness/moderation.ts';
import { needs } from '../../harness/programs.ts';
import { startStandby, waitForStandby } from '../../harness/standby.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { wireProxy } from '../../harness/wire-proxy.ts';
import { embeddedPostgres } from '../../platform/embedded/postgres.ts';
import { withConnection } from '../../platform/postgres/connection.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { testDatabase } from '../support/database.ts';
import { startProcess } from '../support/processes.ts';
import { startPrometheus } from '../support/prometheus.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/svc.ts';
import { createWitnessKey } from '../support/witness.ts';

t.setTimeout(900_000);

const ROOT = join(import.meta.dirname, '../..');
/** The rules with their waits and ranges shortened. The expressions and their thresholds are those of the file. */
const RULES = readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')
  .replaceAll(/\bfor: \d+[mh]$/gm, 'for: 5s')
  .replaceAll(/\[\d+m\]/g, '[12s]');
const ALERTS = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
/** Alerts that deploy/prometheus/alerts_test.yml alone fires: this one needs a cluster of several servers. */
const ON_SERIES_ONLY = ['ServiceNodeUnconfirmed'];
const HIGH = '1000000';
const seen = new Set<string>();

type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/**
 * Makes a fault and waits until it has fired the alerts, none of which fired before. With the shortened waits, one slow
 * request of a busy machine may fire some of them until then.
 */
async function fires(
  t: Test,
  { untilSilent, untilFire }: Prometheus,
  names: string[],
  fault: () => unknown,
): Promise<void> {
  await untilSilent(names);
  t.pass(`${names.join()} silent before`);
  await fault();
  await untilFire(names);
  for (const name of names) {
    t.pass(`${name} fires`);
    seen.add(name);
  }
}

async function startFleet(t: Test, url: string, more: Record<string, string> = {}) {
  const [port, metrics, workerMetrics] = [await freePort(), await freePort(), await freePort()];
  const settings: Record<string, string> = {
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`,
    METRICS_PORT: metrics,
    WORKER_METRICS_PORT: workerMetrics,
    DATABASE_URL: url,
    SERVER_KEYS: `1:${randomBytes(32).toString('hex')}`,
    LOG_LEVEL: 'fatal',
    LIMIT_NOTES_PER_TEN_MINUTES: HIGH,
    LIMIT_NOTES_PER_DAY: HIGH,
    LIMIT_GUEST_NOTES_PER_HOUR: HIGH,
    ...more,
  };
  const web = await startProcess(t, 'web', ['ignore', 'ignore', 'inherit'], settings);
  const worker = await startProcess(t, 'worker', ['ignore', 'ignore', 'inherit'], settings);
  await Promise.all([web.untilServes(), worker.untilServes()]);
  const targets = { 'service-web': metrics, 'service-worker': workerMetrics };
  const prometheus = await startPrometheus(t, targets, RULES);
  await prometheus.untilHolds('sum(up) == 2');
  return { prometheus, worker, settings, api: createApi(web.base) };
}

/** Runs a command of the service to its end and returns its status. */
async function runCommand(args: string[], env: Record<string, string>): Promise<number | null> {
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...INHERITED_ENV, ...env },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  return (await once(child, 'exit'))[0] as number | null;
}

/** Runs a statement without the triggers that protect the log. */
const tamper = (url: string, statement: string) =>
  withConnection(url, async (client) => {
    await client.query("SET session_replication_role = 'replica'");
    await client.query(statement);
  });

const postNotes = (api: Api, count: number) =>
  Promise.all(
    Array.from({ length: count }, () =>
      api.call('POST', '/api/guestbook', { body: { id: randomUUID(), message: 'Hello' } }),
    ),
  );

t.test('faults of jobs, records and storage fire their alerts', needs('prometheus'), async (t) => {
  const { url, pool } = await testDatabase(t);
  const proxy = await wireProxy(t, url);
  let receives = true;
  const receiver = await startReceiver(t, (response) => {
    response.writeHead(receives ? 204 : 500).end();
  });
  const { prometheus, settings, api } = await startFleet(t, proxy.url, {
    DATABASE_POOL_SIZE: '2',
    SEAL_KEY: randomBytes(32).toString('hex'),
    LOG_WITNESSES: `${createWitnessKey('witness.example', 1).vkey} http://127.0.0.1:1/w`,
    NOTIFY_URLS: `${receiver.url}/hook`,
    NOTIFY_SECRETS: `whsec_${randomBytes(32).toString('base64')}`,
  });
  /** Lets a worker run a job now that it otherwise runs by its schedule. */
  const runJob = (name: string) =>
    pool.query("INSERT INTO pgboss.job (name, data) VALUES ($1, '{}')", [name]);
  const direct = { ...settings, DATABASE_URL: url };

  await submit(api);
  await runJob('seal-log');
  await prometheus.untilHolds('min(seal_lag_events) == 0');
  await runJob('prove-read-models');
  await prometheus.untilHolds('read_models_divergent == 0');
  const { path: folder, remove } = temporaryFolder('backups');
  t.teardown(remove);
  const backUp = () =>
    runCommand(['cli/backup.ts', '--keep', '2', folder], {
      ...direct,
      BACKUP_PASSPHRASE: 'correct horse battery',
    });
  t.equal(await backUp(), 0);
  await prometheus.untilHolds('backup_failed == 0');
  // The witness has not answered since the start.
  await prometheus.untilFire(['ServiceWitnessMissing']);
  seen.add('ServiceWitnessMissing');
  await prometheus.untilOnly(['ServiceWitnessMissing']);
  t.pass('no other alert without a fault');

  await fires(t, prometheus, ['ServiceNotesOverdue'], () =>
    pool.query("UPDATE notes SET submitted_at = submitted_at - interval '25 hours'"),
  );
  await fires(t, prometheus, ['ServiceReadModelsDiffer', 'ServiceBackupFailed'], async () => {
    await runJob('prove-read-models');
    t.not(await backUp(), 0);
  });
  await pool.query("UPDATE notes SET submitted_at = submitted_at + interval '25 hours'");
  await fires(t, prometheus, ['ServiceBackupOld', 'ServiceReadModelsUnproven'], async () => {
    await pool.query("UPDATE scheduled_backups SET taken_at = taken_at - interval '27 hours'");
    await pool.query("UPDATE read_model_proofs SET proven_at = proven_at - interval '51 hours'");
  });
  await fires(t, prometheus, ['ServiceNoticesFail'], async () => {
    receives = false;
    await submit(api);
    // The attempts come at once after another, not over an hour.
    await until(async () => {
      await pool.query('UPDATE notice_receivers SET next_at = now() WHERE next_at > now()');
      await runJob('send-notices');
      await sleep(200);
      return prometheus.holds('notice_attempts_failed > 8');
    });
  });
  await fires(t, prometheus, ['ServiceJobsDead'], async () => {
    await pool.query('ALTER TABLE note_screenings RENAME TO screenings_elsewhere');
    await submit(api);
    // The attempts come at once after another, not over most of a day.
    await until(async () => {
      await pool.query("UPDATE pgboss.job SET start_after = now() WHERE state = 'retry'");
      await sleep(200);
      return prometheus.holds('jobs_dead > 0');
    });
  });
  await pool.query('ALTER TABLE screenings_elsewhere RENAME TO note_screenings');

  const holder = await pool.connect();
  let isHeld = true;
  const visitors: Promise<void>[] = [];
  const slow = ['ServicePoolExhausted', 'ServiceSlow', 'ServiceErrors'];
  await fires(t, prometheus, slow, async () => {
    await holder.query('BEGIN; LOCK TABLE artifacts, notes IN ACCESS EXCLUSIVE MODE');
    const visit = async () => {
      for (; isHeld; await sleep(50)) {
        const reading = api.call('GET', `/api/v1/artifacts/${randomUUID()}`);
        await Promise.all([reading, postNotes(api, 1)]);
      }
    };
    for (let count = 0; count < 8; count++) visitors.push(visit());
  });
  isHeld = false;
  await holder.query('ROLLBACK');
  holder.release();
  await Promise.all(visitors);

  await fires(t, prometheus, ['ServiceSealRefused'], async () => {
    await submit(api);
    await tamper(
      url,
      'UPDATE seal_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0))',
    );
    await runJob('seal-log');
  });
});

t.test(
  'a lost worker, a lost log and a lost database fire their alerts',
  needs('prometheus'),
  async (t) => {
    const { url, pool } = await testDatabase(t);
    const proxy = await wireProxy(t, url);
    const more = { SEAL_KEY: randomBytes(32).toString('hex') };
    const { prometheus, worker, api } = await startFleet(t, proxy.url, more);
    await submit(api);
    await pool.query("INSERT INTO pgboss.job (name, data) VALUES ('seal-log', '{}')");
    await prometheus.untilHolds('min(seal_lag_events) == 0');
    await fires(t, prometheus, ['ServiceDown', 'ServiceWithoutWorker'], () => {
      worker.child.kill('SIGKILL');
    });
    await fires(t, prometheus, ['ServiceJobsWaiting', 'ServiceSealLate'], async () => {
      // Notes of one commit share a job.
      await until(async () => {
        await postNotes(api, 2);
        const { rowCount } = await pool.query(
          "SELECT FROM pgboss.job WHERE name = 'screen-note' AND state = 'created'",
        );
        return Number(rowCount) > 110;
      });
      await tamper(url, "UPDATE events SET recorded_at = recorded_at - interval '11 minutes'");
    });
    await fires(t, prometheus, ['ServiceLogLost'], async () => {
      await tamper(url, 'DELETE FROM events');
      proxy.cut();
      await postNotes(api, 1);
    });
    await fires(t, prometheus, ['ServiceDatabaseDown'], () =>
      proxy.redirect('postgres://nobody@127.0.0.1:1/none'),
    );
  },
);

t.test(
  'a standby that is lost fires the alerts of both its uses',
  needs('prometheus'),
  async (t) => {
    const { path: folder, remove } = temporaryFolder('alerts');
    t.teardown(remove);
    const dataDir = join(folder, 'primary');
    const settings = { wal_keep_size: '256MB', fsync: 'off' };
    const server = await embeddedPostgres({ dataDir, settings });
    t.teardown(() => server.stop());
    await migrate(server.url);
    const primary = { ...server, dataDir };
    const standby = await startStandby(primary, join(folder, 'standby'), 'standby');
    const { prometheus, api } = await startFleet(t, server.url, { DATABASE_READ_URL: standby.url });
    await waitForStandby(primary, 'standby');
    await submit(api);
    await prometheus.untilHolds('replica_up == 1');
    const names = ['ServiceWaitsForStandby', 'ServiceReplicaUnused', 'ServiceCommitsUnconfirmed'];
    await fires(t, prometheus, names, async () => {
      await standby.stop();
      const [answer] = await postNotes(api, 1);
      t.match(answer, { status: 503, body: { error: { code: 'outcome_unconfirmed' } } });
    });
    await withConnection(server.url, async (client) => {
      await client.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await client.query('SELECT pg_reload_conf()');
    });
  },
);

t.test('every other alert was seen to fire by its fault', needs('prometheus'), (t) => {
  t.same([...seen, ...ON_SERIES_ONLY].sort(), ALERTS.toSorted());
  t.end();
});
