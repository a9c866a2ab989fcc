import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { writeHistory } from '../harness/history.ts';
import { fillTables } from '../harness/history-tables.ts';
import { INHERITED_ENV } from '../harness/inherited-env.ts';
import { projections } from '../services/features.ts';
import type { BenchEnvironment, DatabaseKind, LongBenchmark } from './environment.ts';
import { median } from './pair.ts';
import { readMemory } from './process-usage.ts';
import { type Service, serviceOn, startWeb } from './service.ts';

const EACH = 100;
const NOTES = 23;
const ROUNDS = 2;
/** Both sides are whole rebuilds, so that a slow moment of the machine counts for more. */
const ROUNDS_ON_PARTITIONS = 5;
const AIM = 0.5;
const AIM_ON_PARTITIONS = 0.8;
const beside = (path: string) => join(import.meta.dirname, path);

/**
 * Compares `npm run rebuild`, while the service answers, with INSERT … SELECT; with `partitions`, on
 * partitioned tables with the same on plain ones.
 */
export const rebuilding: LongBenchmark = {
  name: 'rebuild',
  async measure(setting, { events, partitions }, tell) {
    const ours = await openSide(setting, events, partitions ? 'partitioned' : 'migrated');
    const plain = partitions ? await openSide(setting, events, 'migrated') : undefined;
    const rates: [number[], number[]] = [[], []];
    const turns = [
      async () => rates[0].push(await rebuildRate(ours)),
      async () =>
        rates[1].push(plain ? await rebuildRate(plain) : ours.count / (await floor(ours.client))),
    ];
    for (let round = 0; round < (plain ? ROUNDS_ON_PARTITIONS : ROUNDS); round++)
      for (const turn of turns.reverse()) await turn();
    const ratios = rates[0].map((rate, round) => rate / (rates[1][round] ?? Number.NaN));
    const ratio = median(ratios);
    const aim = partitions ? AIM_ON_PARTITIONS : AIM;
    const layout = partitions ? ', on partitions' : '';
    tell({
      name: `rebuild of every read model from ${ours.count.toLocaleString('en')} events${layout}`,
      floor: partitions ? 'the same on plain tables' : 'the same tables by INSERT … SELECT',
      ours: median(rates[0]),
      theirs: median(rates[1]),
      ratio,
      range: [Math.min(...ratios), Math.max(...ratios)],
      aim,
      met: ratio >= aim,
    });
  },
};

/** A database with a full log and its service. */
interface Side {
  layout: string;
  client: pg.Client;
  /** Events in the log. */
  count: number;
  service: Service;
}

async function openSide(
  setting: BenchEnvironment,
  events: number,
  kind: DatabaseKind,
): Promise<Side> {
  const url = await setting.database(kind);
  const client = new pg.Client(url);
  await client.connect();
  setting.onEnd(() => client.end());
  await writeHistory(client, { members: events / EACH, notes: NOTES });
  await fillTables(client);
  await client.query('VACUUM ANALYZE');
  const count = Number((await client.query('SELECT count(*) FROM events')).rows[0].count);
  const service = await serviceOn(setting, url);
  await startWeb(setting, service);
  return { layout: kind === 'partitioned' ? 'partitions' : 'plain tables', client, count, service };
}

/** Rebuilds once, prints what was seen meanwhile, and returns events per second. */
async function rebuildRate({ layout, count, service: { env, base } }: Side): Promise<number> {
  const { seconds, said } = await rebuild(env, base);
  process.stdout.write(`rebuild / ${layout}: ${seconds.toFixed(1)} s, ${said}\n`);
  return count / seconds;
}

/** Returns the seconds it takes to fill identical tables with the same indexes. */
async function floor(client: pg.Client): Promise<number> {
  const tables = projections.flatMap(({ tables }) => tables);
  await client.query('CREATE SCHEMA floor');
  for (const table of tables)
    await client.query(`CREATE TABLE floor.${table} (LIKE public.${table} INCLUDING ALL)`);
  await client.query('INSERT INTO floor.membership_totals VALUES (1, 0)');
  await client.query('SET search_path = floor, public');
  const started = performance.now();
  await fillTables(client);
  const seconds = (performance.now() - started) / 1000;
  await client.query('RESET search_path');
  await client.query('DROP SCHEMA floor CASCADE');
  return seconds;
}

/** Runs one rebuild in a separate process while reading and writing the guestbook. */
async function rebuild(env: Record<string, string>, base: string) {
  const started = performance.now();
  const child = spawn(process.execPath, [beside('../cli/rebuild.ts')], {
    env: { ...INHERITED_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let progress = 0;
  let peak = 0;
  child.stderr.on('data', (text: Buffer) => {
    progress += text.toString().split('\n').length - 1;
  });
  child.stdout.resume();
  const milliseconds: number[] = [];
  let refused = 0;
  while (child.exitCode === null && child.signalCode === null) {
    // Of a process that has just ended, the peak is not a number.
    peak = readMemory(child.pid ?? 0)?.peak || peak;
    const asked = performance.now();
    const body = JSON.stringify({ id: randomUUID(), name: 'Ada', message: 'While it is rebuilt' });
    const headers = { origin: base, 'content-type': 'application/json' };
    for (const answer of [
      await fetch(`${base}/api/guestbook`),
      await fetch(`${base}/api/guestbook`, { method: 'POST', headers, body }),
    ]) {
      await answer.arrayBuffer();
      if (!answer.ok) refused++;
    }
    milliseconds.push(performance.now() - asked);
    await sleep(100);
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the rebuild ended with ${code}`);
  const most = Math.max(...milliseconds).toFixed(0);
  const said =
    `peak memory ${peak.toFixed(0)} MiB, ${progress} lines of progress; meanwhile ` +
    `${milliseconds.length} reads and as many writes, ${refused} refused, a pair in ` +
    `${median(milliseconds).toFixed(0)} ms (median), ${most} ms (most)`;
  return { seconds: (performance.now() - started) / 1000, said };
}
