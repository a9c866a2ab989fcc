import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { findProgram, needs } from '../../harness/programs.ts';
import { newKey } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';
import { startProcess } from '../support/processes.ts';

t.setTimeout(300_000);

const ROOT = join(import.meta.dirname, '../..');
const PROMETHEUS = join(ROOT, 'deploy/prometheus');
const RULES = readFileSync(join(PROMETHEUS, 'alerts.yml'), 'utf8');
/** The functions and keywords of PromQL that the expressions use. */
const WORDS =
  /^(absent|avg|by|histogram_quantile|increase|max|min|min_over_time|or|rate|sum|time|topk)$/;
/** Labels that Prometheus gives, and those of `up`. */
const GIVEN_LABELS = ['job', 'instance', 'le'];

type Use = readonly [metric: string, labels: string[], expression: string];

/** The metrics that an expression reads, each with the labels that it names beside them. */
function usesIn(expression: string): Use[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/,\s*/),
  );
  const bare = expression.replace(/\bby \([^)]*\)/g, '');
  return [...bare.matchAll(/\b([a-z_][a-z0-9_]*)\b(?:\{([^}]*)\})?(?![^{]*\})(?!"|\w)/g)].flatMap(
    ([, name = '', selector = '']) => {
      if (WORDS.test(name) || /^\d|^[smhd]$/.test(name)) return [];
      const labels = [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(
        ([, label = '']) => label,
      );
      return [[name, [...labels, ...grouped], expression] as const];
    },
  );
}

const expressions = [
  ...[...RULES.matchAll(/^ {8}expr: (?:>\n((?: {10}.*\n)+)|(.+)\n)/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  ),
  ...globSync('deploy/grafana/*.json', { cwd: ROOT }).flatMap((file) =>
    JSON.parse(readFileSync(join(ROOT, file), 'utf8')).panels.flatMap(
      ({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr),
    ),
  ),
];
const alerts = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);

t.test('asks only for metrics and labels that web or worker serve', async (t) => {
  const { url } = await testDatabase(t);
  const ports = { METRICS_PORT: await freePort(), WORKER_METRICS_PORT: await freePort() };
  const settings = { DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}`, ...ports };
  for (const name of ['web', 'worker'] as const)
    await (await startProcess(t, name, 'ignore', settings)).untilServes();
  const texts = await Promise.all(
    Object.values(ports).map(async (port) =>
      (await fetch(`http://127.0.0.1:${port}/metrics`)).text(),
    ),
  );
  const served = new Set(['up']);
  for (const [, name, type] of texts.join('\n').matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_count', '_sum'] : [''];
    for (const suffix of suffixes) served.add(`${name}${suffix}`);
  }
  const reference = readFileSync(join(ROOT, 'docs/reference/metrics.md'), 'utf8');
  const labelsOf = (metric: string) => {
    const name = metric.replace(/_(bucket|count|sum)$/, '');
    const row = reference.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
    return [...(row.split('|')[3] ?? '').matchAll(/\w+/g)].map(String);
  };
  t.ok(expressions.length > alerts.length + 15, `${expressions.length} expressions`);
  for (const [metric, labels, expression] of expressions.flatMap(usesIn)) {
    t.ok(served.has(metric), `${metric} is served: ${expression}`);
    for (const label of labels)
      t.ok([...GIVEN_LABELS, ...labelsOf(metric)].includes(label), `${metric} has ${label}`);
  }
});

t.test('has a section of the runbook for every alert, in the same order', (t) => {
  const runbook = readFileSync(join(ROOT, 'docs/operating/alerts.md'), 'utf8');
  const sections = [...runbook.matchAll(/^## (Service\w+)$/gm)].map(([, name]) => name);
  t.same(sections.sort(), alerts.toSorted());
  for (const name of alerts)
    t.ok(RULES.includes(`runbook: docs/operating/alerts.md#${name.toLowerCase()}\n`), name);
  const tests = readFileSync(join(PROMETHEUS, 'alerts_test.yml'), 'utf8');
  for (const name of alerts)
    t.equal(tests.split(`alertname: ${name}\n`).length, 3, `${name} is silent, and then fires`);
  t.end();
});

t.test('has rules that promtool accepts and sees fire', needs('promtool'), async (t) => {
  const promtool = (...args: string[]) =>
    promisify(execFile)(findProgram('promtool') ?? '', args, { cwd: PROMETHEUS });
  t.match((await promtool('check', 'rules', 'alerts.yml')).stdout, /SUCCESS: 22 rules found/);
  t.match((await promtool('check', 'config', 'prometheus.yml')).stdout, /SUCCESS/);
  t.match((await promtool('test', 'rules', 'alerts_test.yml')).stdout, /SUCCESS/);
});
