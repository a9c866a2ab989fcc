import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import t, { type Test } from 'tap';
import { readManifest } from '../../cli/backup/folder.ts';
import { nameOf, parseKeep, prune } from '../../cli/backup/retention.ts';
import { checkBackup } from '../../cli/doctor/backup.ts';
import { connectTo } from '../../cli/doctor/check.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { formatServerKeys } from '../../platform/keys/server-keys.ts';
import { backupMetrics } from '../../services/backups/last-backup.ts';
import { type Service, startService } from '../support/service.ts';

t.setTimeout(600_000);

function newFolder(t: Test): string {
  const { path, remove } = temporaryFolder('backups');
  t.teardown(remove);
  return path;
}

function folderWith(t: Test, ...names: string[]): string {
  const folder = newFolder(t);
  for (const name of names) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'manifest.json'), name);
  }
  return folder;
}

/** Starts a scheduled backup of a service. */
function start({ core, database }: Service, folder: string, keep = '2') {
  const child: ChildProcess = spawn(process.execPath, ['cli/backup.ts', '--keep', keep, folder], {
    env: {
      ...INHERITED_ENV,
      BACKUP_PASSPHRASE: 'correct horse battery',
      DATABASE_URL: database.url,
      SERVER_KEYS: formatServerKeys(core.config.serverKeys ?? []),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  return { child, end: async () => ({ code: (await closed)[0], stdout, stderr }) };
}

async function startWithNote(t: Test): Promise<Service> {
  const service = await startService(t);
  const body = { id: randomUUID(), name: 'Ada', message: 'Hello' };
  t.equal((await service.call('POST', '/api/guestbook', { body })).status, 202);
  return service;
}

/** What `npm run doctor` says without a folder. */
const checked = ({ database }: Service) =>
  connectTo(database.url, (client, ask) => checkBackup({ client, ask, backups: undefined }));

/** The two metrics, as a process serves them. */
async function metricsOf({ core }: Service) {
  const registry = new Registry();
  backupMetrics(registry, core.pool);
  const text = await registry.metrics();
  const value = (name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  return { taken: value('backup_taken_at'), failed: value('backup_failed') };
}

const OLD = ['2026-01-01T013000Z', '2026-01-02T013000Z', '2026-01-03T013000Z'];

t.test('keeps a number of backups, or those of a number of days', (t) => {
  const newest = '2026-01-10T013000Z';
  const others = ['2026-01-00', 'notes', '2026-01-02T013000Z.part', 'old-2026-01-02T013000Z'];
  const left = (keep: string) => {
    const folder = folderWith(t, ...OLD, newest, ...others);
    writeFileSync(join(folder, '2025-01-01T013000Z'), 'a file, not a backup');
    prune(folder, newest, parseKeep(keep) ?? { count: 0 });
    const names = readdirSync(folder);
    t.same(
      names.filter((name) => others.includes(name)).sort(),
      [...others].sort(),
      'what has another name stays',
    );
    t.ok(names.includes('2025-01-01T013000Z'), 'and so does a file');
    return names.filter((name) => OLD.includes(name) || name === newest);
  };
  t.same(left('2'), [OLD[2], newest]);
  t.same(left('1'), [newest]);
  t.same(left('9'), [...OLD, newest]);
  t.same(left('8d'), [OLD[1], OLD[2], newest]);
  t.same(left('1d'), [newest], 'the one that was verified stays');
  for (const wrong of ['0', '-1', '1.5', '2w', '', '0d', '999999'])
    t.equal(parseKeep(wrong), undefined);
  t.end();
});

t.test('removes nothing while a backup has a later date', (t) => {
  const folder = folderWith(t, ...OLD, '2027-01-01T013000Z');
  t.throws(
    () => prune(folder, OLD[2] ?? '', { count: 1 }),
    /2027-01-01T013000Z is dated after 2026-01-03T013000Z.*the database's clock is or was wrong/,
  );
  t.equal(readdirSync(folder).length, 4);
  t.end();
});

t.test('makes a backup, verifies it, and then removes old ones', async (t) => {
  const service = await startWithNote(t);
  t.same(await metricsOf(service), { taken: undefined, failed: undefined });
  const folder = folderWith(t, ...OLD);
  const { code, stdout, stderr } = await start(service, folder).end();
  t.same({ code, stderr }, { code: 0, stderr: '' });
  const [kept, name = ''] = readdirSync(folder).filter((entry) => entry !== '.lock');
  t.equal(kept, OLD[2]);
  t.equal(name, nameOf(readManifest(join(folder, name)).taken_at));
  t.match(stdout, `Verified ${name}: every read model equals its rebuild\nRemoved `);
  const taken = Date.parse(readManifest(join(folder, name)).taken_at) / 1000;
  t.same(await metricsOf(service), { taken: String(taken), failed: '0' });
  t.match(await checked(service), [
    { level: 'ok', text: / that was verified is 0\.\d hours old$/ },
  ]);
  await service.database.pool.query(
    `UPDATE scheduled_backups SET taken_at = taken_at - interval '27 hours'`,
  );
  t.match(await checked(service), [{ level: 'warn', text: /is 27\.\d hours old$/ }]);
});

t.test('removes nothing, and reports the failure, if a backup does not verify', async (t) => {
  const service = await startWithNote(t);
  const folder = folderWith(t, ...OLD);
  await service.database.pool.query(`UPDATE notes SET name = 'Eve'`);
  const failed = await start(service, folder, '1').end();
  t.match(failed, { code: 1, stderr: /these read models differ from their rebuild: notes/ });
  t.same(
    readdirSync(folder).filter((name) => name !== '.lock'),
    OLD,
    'the failed one is gone, too',
  );
  t.same(await metricsOf(service), { taken: undefined, failed: '1' });
  const text = /^No scheduled backup was ever verified, and that of \S+ failed$/;
  t.match(await checked(service), [{ level: 'bad', text }]);
  await service.database.pool.query(`UPDATE notes SET name = 'Ada'`);
  t.match(await start(service, folder, '1').end(), { code: 0 });
  t.equal((await metricsOf(service)).failed, '0');
  t.equal(readdirSync(folder).filter((name) => !name.startsWith('.')).length, 1);
});

/**
 * Kills a backup as soon as its folder has a file. Returns the folder, and what a second run said while the first was
 * stopped at this place. A backup that ends before it is stopped is repeated in another folder.
 */
async function killAt(t: Test, service: Service, seen: string, withSecond: boolean) {
  for (;;) {
    const folder = folderWith(t, ...OLD);
    const { child, end } = start(service, folder, '1');
    const path = join(folder, '.unfinished-backup', seen);
    while (!existsSync(path) && child.exitCode === null) await sleep(1);
    child.kill('SIGSTOP');
    const second = withSecond ? await start(service, folder).end() : undefined;
    child.kill('SIGKILL');
    const { code, stderr } = await end();
    if (code === null) return { folder, second };
    if (code !== 0) throw new Error(stderr);
  }
}

t.test(
  'leaves the backups of before wherever it is killed, and refuses a second run',
  async (t) => {
    const service = await startWithNote(t);
    // While tables are written, when they are complete, and when the restore of the verification runs.
    for (const seen of ['', 'notes.copy.gz.sealed', 'manifest.json']) {
      const isLast = seen === 'manifest.json';
      const { folder, second } = await killAt(t, service, seen, isLast);
      if (isLast)
        t.match(second, {
          code: 1,
          stderr: `Another process makes a backup in ${folder}\n`,
        });
      t.same(
        readdirSync(folder).filter((name) => !name.startsWith('.')),
        OLD,
        `killed at ${seen || 'the first file'}`,
      );
      t.ok(existsSync(join(folder, '.unfinished-backup', seen)));
      t.match(await start(service, folder, '1').end(), { code: 0, stderr: '' });
      const [name, ...others] = readdirSync(folder).filter((entry) => entry !== '.lock');
      t.match(name, /^20\d\d-/);
      t.same(others, [], 'what the killed run left is gone');
    }
  },
);
