import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from '../../harness/free-port.ts';
import { startProgram } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { until } from './svc.ts';

/** Prometheus scrapes every two seconds and evaluates its rules every second, so an answer may change that often. */
const PAUSE_MS = 500;

type Ending = { teardown(end: () => void | Promise<void>): unknown };

interface Targets {
  /** The ports of `/metrics`, by the names of the jobs that the rules choose. */
  [job: string]: string;
}

/** Starts a Prometheus that scrapes these processes every two seconds and evaluates the rules. */
export async function startPrometheus(t: Ending, targets: Targets, rules: string) {
  const { path: folder, remove } = temporaryFolder('prometheus');
  t.teardown(remove);
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(data);
  chmodSync(data, 0o777);
  writeFileSync(join(folder, 'alerts.yml'), rules);
  const jobs = Object.entries(targets).map(([name, port]) => ({
    job_name: name,
    static_configs: [{ targets: [`127.0.0.1:${port}`] }],
  }));
  const config = {
    global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: jobs,
  };
  // JSON is YAML as well.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const port = await freePort();
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${data}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ];
  const { kill } = await startProgram('prometheus', args, port);
  t.teardown(kill);

  async function ask<Data>(path: string): Promise<Data> {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    // Prometheus listens before it has read its data, and answers 503 until then.
    if (!answer.ok) throw new Error(`${path} was answered ${answer.status}`);
    return ((await answer.json()) as { data: Data }).data;
  }

  /** The names of the alerts that fire now. */
  async function firing(): Promise<string[]> {
    const { alerts } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>(
      'alerts',
    );
    const names = alerts
      .filter(({ state }) => state === 'firing')
      .map((one) => one.labels.alertname);
    return [...new Set(names)].sort();
  }

  /** Whether an expression has a result now. */
  async function holds(expression: string): Promise<boolean> {
    const path = `query?query=${encodeURIComponent(expression)}`;
    const { result } = await ask<{ result: unknown[] }>(path).catch(() => ({ result: [] }));
    return result.length > 0;
  }

  /** Waits until these alerts fire. */
  const untilFire = (names: readonly string[]) =>
    until(
      async () => {
        const now = await firing();
        return names.every((name) => now.includes(name));
      },
      { pauseMs: PAUSE_MS },
    );

  /** Waits until exactly these alerts fire. */
  const untilOnly = (names: readonly string[]) =>
    until(async () => isDeepStrictEqual(await firing(), names), { pauseMs: PAUSE_MS });

  /** Waits until none of these alerts fires. */
  const untilSilent = (names: readonly string[]) =>
    until(async () => !(await firing()).some((name) => names.includes(name)), {
      pauseMs: PAUSE_MS,
    });

  /** Waits until an expression has a result. */
  const untilHolds = (expression: string) => until(() => holds(expression), { pauseMs: PAUSE_MS });

  return { holds, untilFire, untilHolds, untilOnly, untilSilent };
}
