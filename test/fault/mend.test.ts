import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { addModerator, atDesk, decide, submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { proveReadModels } from '../../projections/rebuild/prove.ts';
import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { asRole } from '../support/database.ts';
import { countLockWaits } from '../support/meanwhile.ts';
import { operatorEnv } from '../support/moderator-command.ts';
import { startProcess } from '../support/processes.ts';
import { fillHistory } from '../support/proven-service.ts';
import { rowsOf, type ServedRow } from '../support/served-rows.ts';
import { type Service, startService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MUTANT = join(ROOT, 'proof', 'mutant.ts');

/** Starts `npm run verify -- --live --mend`. */
function startMend(t: Test, service: Service, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'cli', 'verify.ts'), '--live', '--mend'], {
    env: { ...INHERITED_ENV, ...operatorEnv(service), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.err += text;
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  return { child, end: async () => ({ code: (await closed)[0], ...said }) };
}

const contentOf = ({ database }: Service) => rowsOf(database.pool);

/** Compares every row of every read model with what it was, and names the first that differ. */
async function sameContent(t: Test, service: Service, before: Map<string, ServedRow>) {
  const now = await contentOf(service);
  const keys = [...new Set([...before.keys(), ...now.keys()])];
  const differing = keys.filter((key) => before.get(key)?.row !== now.get(key)?.row);
  t.same(differing.slice(0, 3), [], `${differing.length} of ${keys.length} rows differ`);
}

const prove = ({ database }: Service) => proveReadModels(database.url, catalogue, projections);

/** The rows that the log says were mended. */
async function countRecorded({ database }: Service): Promise<number> {
  const { rows } = await database.pool.query<{ rows: number }>(
    `SELECT coalesce(sum((one->>'changed')::int + (one->>'missing')::int + (one->>'surplus')::int), 0)::int AS rows
     FROM events, jsonb_array_elements(data->'tables') one WHERE type = 'ReadModelsMended'`,
  );
  return rows[0]?.rows ?? 0;
}

/** Changes rows of three tables, more than one transaction replaces. Returns how many. */
async function corrupt(service: Service): Promise<number> {
  await service.tamper('SELECT');
  let count = 0;
  for (const statement of [
    'UPDATE notes SET version = version + 1',
    "UPDATE cases SET created_at = created_at + interval '1 second'",
    "UPDATE feed SET occurred_at = occurred_at + interval '1 second'",
  ])
    count += (await service.database.pool.query(statement)).rowCount ?? 0;
  return count;
}

t.test('a mend that is killed leaves whole transactions, and can be run again', async (t) => {
  const service = await startService(t);
  const { pool } = service.database;
  await fillHistory(service, 60);
  const before = await contentOf(service);
  const corrupted = await corrupt(service);
  const holder = await pool.connect();
  await holder.query('BEGIN');
  // The last table that is mended: a transaction waits for this row after it has replaced others.
  await holder.query('SELECT FROM feed ORDER BY member_id DESC, sequence DESC LIMIT 1 FOR UPDATE');
  const killed = startMend(t, service);
  while ((await countLockWaits(pool)) === 0) {
    if (killed.child.exitCode !== null) break;
    await sleep(5);
  }
  killed.child.kill('SIGKILL');
  const { code: killedCode, err: killedErr } = await killed.end();
  await holder.query('ROLLBACK');
  holder.release();
  t.equal(killedCode, null, killedErr);
  const left = (await prove(service)).divergent;
  const recorded = await countRecorded(service);
  t.comment(`${recorded} of ${corrupted} rows were mended`);
  t.ok(recorded > 0 && left > 0, 'it was killed between the first and the last transaction');
  t.equal(recorded + left, corrupted, 'a row is mended if and only if the log says so');
  const { code, out, err } = await startMend(t, service).end();
  t.equal(code, 0, err);
  t.match(out, new RegExp(`^Mended ${left} rows of .*, and compared again$`, 'm'));
  t.match(out, /^Proven: /m);
  t.equal(await countRecorded(service), corrupted);
  await sameContent(t, service, before);
});

t.test('two mends run one after the other, with odd settings of a role', async (t) => {
  const service = await startService(t);
  await fillHistory(service, 20);
  const before = await contentOf(service);
  // Tables whose keys have a date, a time or a number of 64 bits.
  await service.tamper('DELETE FROM note_fingerprints');
  await service.tamper('DELETE FROM moderation_weeks');
  await service.tamper('DELETE FROM feed');
  await service.tamper(
    "UPDATE notes SET name = U&'\\FFFE\\200E\\+01F600\\+10FFFF' || E'\\u0001\\\\'",
  );
  await service.tamper("UPDATE policies SET code = U&'\\202E\\0085\\FEFF\"''' WHERE code = 'spam'");
  const corrupted = (await prove(service)).divergent;
  const odd = {
    PGOPTIONS:
      '-c DateStyle=SQL,DMY -c TimeZone=Asia/Kolkata -c bytea_output=escape -c default_transaction_isolation=serializable -c standard_conforming_strings=off',
  };
  const ends = await Promise.all(
    [startMend(t, service, odd), startMend(t, service, odd)].map(({ end }) => end()),
  );
  for (const { code, err } of ends) t.equal(code, 0, err);
  const mended = ends.map(({ out }) => Number(/^Mended (\d+) rows/m.exec(out)?.[1] ?? 0));
  t.same(mended.sort(), [0, corrupted]);
  t.equal(await countRecorded(service), corrupted);
  await sameContent(t, service, before);
});

t.test('only the owner of the tables mends, and nothing else writes', async (t) => {
  const service = await startService(t);
  await submit(service);
  await service.tamper('UPDATE notes SET version = version + 1');
  const before = await contentOf(service);
  const env = { DATABASE_URL: asRole(service.database.url, 'service') };
  const { code, out, err } = await startMend(t, service, env).end();
  t.match({ code, out }, { code: 1, out: '' });
  t.equal(
    err,
    'Only the role that owns the tables can mend them: connect as the owner (docs/operating/roles.md)\n',
  );
  t.equal((await prove(service)).divergent, 1);
  await sameContent(t, service, before);
});

t.test('finds what a process with a wrong projection has written, and mends it', async (t) => {
  const service = await startService(t);
  const { id: noteId } = await submit(service);
  const added = await addModerator(service, 'Ann');
  const port = await freePort();
  const mutated = await startProcess(t, 'web', 'ignore', {
    ...operatorEnv(service),
    DATABASE_URL: service.database.url,
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`,
    NODE_OPTIONS: `--import ${MUTANT}`,
    PROOF_MUTANT: 'wrong-row',
  });
  await mutated.untilServes();
  const desk = atDesk(patient(createApi(mutated.base)), added);
  const { status, text } = await decide(desk, noteId, 'reject');
  t.equal(status, 201, text);
  await service.tamper('SELECT');
  const { out } = await startMend(t, service).end();
  t.match(out, new RegExp(`^notes note_id="${noteId}" differs in [a-z_, ]+: mended$`, 'm'));
  t.match(out, /^Mended 1 rows of notes, and compared again$/m);
});

t.test('names each table that a wrong projection has written', async (t) => {
  const service = await startService(t);
  const { database } = service;
  await fillHistory(service, 20);
  const before = await contentOf(service);
  const { rows } = await database.pool.query<{ type: string }>('SELECT DISTINCT type FROM events');
  const recorded = new Set(rows.map(({ type }) => type));
  // Each projection ignores the first of its events that the log has.
  const wrong = projections.map((projection) => {
    const ignored = Object.keys(projection.on).find((type) => recorded.has(type));
    const on = Object.entries(projection.on).filter(([type]) => type !== ignored);
    return { projection: { ...projection, on: Object.fromEntries(on) }, ignored };
  });
  await service.tamper('SELECT');
  await rebuild(
    database.url,
    catalogue,
    wrong.map(({ projection }) => projection),
  );
  const { tables } = await prove(service);
  const filled = new Set([...before.keys()].map((key) => key.split(' ')[0]));
  for (const { projection, ignored } of wrong)
    if (ignored && projection.tables.some((table) => filled.has(table)))
      t.ok(
        projection.tables.some((table) => tables.includes(table)),
        `${projection.name} without ${ignored}`,
      );
    else t.comment(`${projection.name} has no row here`);
  const { code, err } = await startMend(t, service).end();
  t.equal(code, 0, err);
  await sameContent(t, service, before);
});
