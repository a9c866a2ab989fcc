import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Registry } from 'prom-client';
import t from 'tap';
import { checkReadModels } from '../../cli/doctor/log.ts';
import { newAgent } from '../../harness/agent.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { publishArtifact } from '../../harness/records.ts';
import { query } from '../../platform/postgres/query.ts';
import type { Sql } from '../../platform/sql.ts';
import { provingMetrics, recordProof } from '../../services/proving/last-proof.ts';
import { proveAndRecord } from '../../workers/proving/prove-read-models.ts';
import { asRole } from '../support/database.ts';
import { type Service, startService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const WORKER = join(ROOT, 'workers', 'worker.ts');
const AT = { VERIFY_AT: '02:30' };

const run = ({ core, logger }: Service, ending?: AbortSignal) =>
  proveAndRecord(core, {}, logger, ending) as Promise<{ alert: string | null }>;

async function metricsOf({ core }: Service): Promise<Record<string, number>> {
  const registry = new Registry();
  provingMetrics(registry, core.pool);
  const text = await registry.metrics();
  return Object.fromEntries(
    [...text.matchAll(/^(read_models_\w+) (\S+)$/gm)].map(([, name, value]) => [
      name,
      Number(value),
    ]),
  );
}

const check = ({ core }: Service) =>
  checkReadModels({
    config: core.config,
    ask: <Row>(statement: Sql<Row>) => query(core.pool, statement),
  });

t.test('the job says when the read models were proven, and which rows differ', async (t) => {
  const service = await startService(t, AT);
  const agent = await newAgent(service);
  const { id } = await publishArtifact(agent, 'zanzibar');
  t.same(await metricsOf(service), {});
  t.match(await check(service), [{ level: 'warn', text: /never compared .* VERIFY_AT is 02:30/ }]);

  const before = Date.now();
  t.equal((await run(service)).alert, null);
  const proven = await metricsOf(service);
  t.ok((proven.read_models_proven_at ?? 0) * 1000 >= before);
  t.equal(proven.read_models_divergent, 0);
  t.match(await check(service), [{ level: 'ok', text: /^Every read model equalled the log at / }]);

  await service.tamper("UPDATE artifacts SET title = 'tampered', version = version + 1");
  t.match(await run(service), { alert: /^1 rows of artifacts differ from the log/ });
  t.same(await metricsOf(service), { ...proven, read_models_divergent: 1 });
  t.match(await check(service), [
    {
      level: 'bad',
      text: /^1 rows of artifacts differed/,
      command: 'npm run verify -- --live',
    },
  ]);
  const lines = service.logged.filter((line) => line.includes('read model differs'));
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] as string).difference, {
    table: 'artifacts',
    key: { artifact_id: id },
    kind: 'changed',
    columns: ['title', 'version'],
  });
  t.notMatch(lines[0], /zanzibar|tampered/);
});

t.test('doctor warns of a comparison that is days old', async (t) => {
  const service = await startService(t, AT);
  const nothing = { divergent: 0, tables: [] };
  await query(service.core.pool, recordProof(new Date(Date.now() - 51 * 3_600_000), nothing));
  t.match(await check(service), [{ level: 'warn', text: /last compared/ }]);
  // An earlier run that ends later does not replace a later one.
  await query(service.core.pool, recordProof(new Date(), nothing));
  const earlier = new Date(Date.now() - 3_600_000);
  await query(service.core.pool, recordProof(earlier, { divergent: 3, tables: ['notes'] }));
  t.match(await check(service), [{ level: 'ok' }]);
});

t.test('a worker that stops ends the comparison, which records nothing', async (t) => {
  const service = await startService(t, AT);
  await newAgent(service);
  const ending = AbortSignal.abort(new Error('The worker stops'));
  await t.rejects(run(service, ending), { message: 'The worker stops' });
  t.same(await metricsOf(service), {});
});

t.test('a worker schedules the comparison, and takes the schedule back', async (t) => {
  const keys = { SERVER_KEYS: `1:${'a'.repeat(64)}` };
  const service = await startService(t, keys);
  const { pool, url } = service.database;
  const once = async (settings: Record<string, string>) => {
    const env = { ...INHERITED_ENV, ...keys, DATABASE_URL: url, ...settings };
    const worker = spawn(process.execPath, [WORKER], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => worker.kill('SIGKILL'));
    for await (const line of createInterface(worker.stdout))
      if (line.includes('worker ready')) worker.kill('SIGTERM');
    const { rows } = await pool.query(
      "SELECT cron FROM pgboss.schedule WHERE name = 'prove-read-models'",
    );
    return rows;
  };
  t.same(await once({ VERIFY_AT: '02:30' }), [{ cron: '30 2 * * *' }]);
  t.same(await once({ VERIFY_AT: '' }), []);
});

t.test('the command proves as the role of the service, and fails if a row differs', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  await publishArtifact(agent, 'zanzibar');
  const verify = () =>
    promisify(execFile)(process.execPath, [join(ROOT, 'cli', 'verify.ts'), '--live'], {
      env: { ...INHERITED_ENV, DATABASE_URL: asRole(service.database.url, 'service') },
    });
  t.match((await verify()).stdout, /^Proven: \d+ rows of every read model equal \d+ events /);
  await service.tamper('DELETE FROM artifacts');
  await service.tamper("UPDATE members SET handle = 'tampered'");
  const failed = (await verify().catch((error: unknown) => error)) as {
    code: number;
    stdout: string;
  };
  t.equal(failed.code, 1);
  const lines = failed.stdout.split('\n');
  t.match(lines[0], /^members member_id="[0-9a-f-]{36}" differs in handle$/);
  t.match(lines[1], /^artifacts artifact_id="[0-9a-f-]{36}" is missing$/);
  t.match(lines[2], /^2 rows of members, artifacts differ from the log \(\d+ events, /);
  t.notMatch(failed.stdout, /zanzibar|tampered/);
});
