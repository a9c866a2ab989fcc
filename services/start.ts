import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLoopback } from '../platform/base-url.ts';
import { readArguments } from '../platform/command-line/arguments.ts';
import { type Config, configOrExit, environmentWith } from '../platform/config.ts';
import { type EmbeddedPostgres, embeddedPostgres } from '../platform/embedded/postgres.ts';
import { sealKeyFile } from '../platform/log-settings.ts';
import { type Child, labelledLog, startChild } from '../platform/supervisor/child.ts';
import { type Instance, instances, parseProcfile } from '../platform/supervisor/procfile.ts';
import { whyElsewhere } from './localhost.ts';
import { NOT_EMPTIED_STATUS, untilEmptying } from './sandbox-notice.ts';

// Longer than any process takes to drain; a process that still runs after this time is killed.
const PATIENCE_MS = 30_000;
/** After the time at which a sandbox is due, in case the clock of the database is behind. */
const EMPTYING_DELAY_MS = 5_000;
/** Until the next attempt, where another transaction kept a sandbox from being emptied. */
const EMPTYING_RETRY_MS = 600_000;

const USAGE = `Usage:
  npm start [-- PROCESS=COUNT …]

Starts the processes of the Procfile after a release, with an embedded PostgreSQL in DATA_DIR unless
DATABASE_URL is set. worker=2 starts two workers.
`;

// The service goes on where the reader of the output, such as `head`, is gone: `labelledLog` drops the rest.
const { positionals } = readArguments(USAGE, {}, [0, Infinity]);

const write = labelledLog(process.stdout);
const say = (line: string) => write('start', line);

type Ending = { failed: boolean; why: string };
const ending = Promise.withResolvers<Ending>();
const over = new AbortController();
// Only the first call counts: nodemon and terminals send the signal twice.
function end(why: string, failed: boolean): void {
  if (!over.signal.aborted) say(why);
  over.abort();
  ending.resolve({ failed, why });
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => end(`${signal}: stopping`, false));

async function run(config: Config): Promise<boolean> {
  if (config.port === 0) throw new Error('npm start requires a fixed PORT, not 0');
  const procfile = parseProcfile(readFileSync('Procfile', 'utf8'));
  const wanted = instances(procfile, positionals);
  const postgres = config.databaseUrl ? undefined : await startPostgres(config);
  const children: Child[] = [];
  let emptying = false;
  try {
    const start = (label: string, command: string, index = 0) => {
      const child = startChild(label, command, environment(config, postgres, label, index), write);
      children.push(child);
      return child;
    };
    const startAll = () => {
      for (const instance of wanted) {
        const child = keep(instance, start, () => emptying);
        if (instance.name === 'web' && instance.index === 0) announce(child, config);
      }
    };
    const release = procfile.get('release');
    let emptied = true;
    const runRelease = async () => {
      if (release && !over.signal.aborted) emptied = await once(start('release', release));
    };
    await runRelease();
    if (!over.signal.aborted) startAll();
    while (config.sandbox && !over.signal.aborted) {
      const wait = emptied
        ? untilEmptying(config.sandboxEmptiedAt, Date.now()) + EMPTYING_DELAY_MS
        : EMPTYING_RETRY_MS;
      await sleep(wait, undefined, { signal: over.signal }).catch(() => undefined);
      if (over.signal.aborted) break;
      // Only a release without connected processes empties the sandbox.
      say('The sandbox is emptied: stopping all processes');
      emptying = true;
      await Promise.all(children.splice(0).map((child) => stop(child)));
      emptying = false;
      await runRelease();
      if (!over.signal.aborted) startAll();
    }
    const { failed } = await ending.promise;
    const ends = await Promise.all(children.map((child) => stop(child)));
    return !failed && ends.every(Boolean);
  } finally {
    await postgres?.stop();
  }
}

async function startPostgres(config: Config): Promise<EmbeddedPostgres> {
  if (!isLoopback(config.baseUrl))
    say('The embedded PostgreSQL is for development: set DATABASE_URL to serve the public');
  say(`Starting PostgreSQL in ${config.dataDir}`);
  const postgres = await embeddedPostgres({ dataDir: config.dataDir });
  void postgres.died.then((lines) =>
    end(`PostgreSQL ended: stopping everything. Its log ends with\n${lines}`, true),
  );
  return postgres;
}

function environment(
  config: Config,
  postgres: EmbeddedPostgres | undefined,
  label: string,
  index: number,
) {
  const inherited = environmentWith({});
  // Instances of one process cannot share a port, so each instance adds its index.
  const ports = ['PORT', 'METRICS_PORT', 'WORKER_METRICS_PORT']
    .filter((name) => name === 'PORT' || Number(inherited[name]) > 0)
    .map((name) => [name, String(Number(inherited[name] || config.port) + index)]);
  return environmentWith({
    // `node` in the Procfile resolves to the Node that runs this file.
    PATH: `${dirname(process.execPath)}:${inherited.PATH ?? ''}`,
    BASE_URL: config.baseUrl,
    ...Object.fromEntries(ports),
    ...(postgres && { DATABASE_URL: postgres.url }),
    ...sealKeyFor(config, postgres !== undefined, label),
  });
}

/** Only workers seal the log, so no other process is given the key. */
function sealKeyFor(config: Config, isEmbedded: boolean, label: string): Record<string, string> {
  if (!label.startsWith('worker.')) return { SEAL_KEY: '', SEAL_KEY_FILE: '' };
  return isEmbedded && !config.sealKey ? { SEAL_KEY_FILE: sealKeyFile(config) } : {};
}

/** Resolves to false where only the emptying of a sandbox could not be done. */
async function once(child: Child): Promise<boolean> {
  const result = await Promise.race([child.ended, ending.promise]);
  if (!('ok' in result) || result.ok) return true;
  if (result.status === NOT_EMPTIED_STATUS) return false;
  end(`${child.label}: ${result.how}: stopping`, true);
  return true;
}

function keep(
  { name, command, index }: Instance,
  start: (label: string, command: string, index: number) => Child,
  mayEnd: () => boolean,
): Child {
  const child = start(`${name}.${index + 1}`, command, index);
  void child.ended.then(({ how }) => {
    if (!mayEnd()) end(`${child.label}: ${how}: stopping everything`, true);
  });
  return child;
}

async function stop(child: Child): Promise<boolean> {
  const { ok, how } = await child.stop(PATIENCE_MS);
  if (!ok) say(`${child.label}: ${how}`);
  return ok;
}

/** Logs when the web process itself reports that it listens: the port may be another instance's. */
function announce(web: Child, config: Config): void {
  void web.reported.then(async () => {
    const elsewhere = await whyElsewhere(config.baseUrl, config.host);
    if (over.signal.aborted) return;
    say(`Ready: ${config.baseUrl}`);
    if (elsewhere) say(`But ${elsewhere.text}: set ${elsewhere.setting}`);
  });
}

try {
  process.exitCode = (await run(configOrExit())) ? 0 : 1;
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
