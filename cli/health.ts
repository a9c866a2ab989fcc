import { get } from 'node:http';
import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';

const PATIENCE_MS = 5_000;
const PROCESSES = ['web', 'worker'];

const {
  positionals: [name],
} = processArguments(
  `Usage:
  node cli/health.ts web
  node cli/health.ts worker

Exits with 0 if the process of this machine, or of this container, runs and answers within 5 seconds,
and otherwise with 1. It asks no database, so it stays 0 while a release migrates or PostgreSQL is
down. It reads PORT and HOST for web, WORKER_METRICS_PORT and METRICS_HOST for worker.
`,
  {},
  [1, 1],
  ({ positionals: [process] }) => {
    if (!PROCESSES.includes(process ?? ''))
      throw new ArgumentError(`Unknown process '${process}'.`);
  },
);

// The settings are not validated here: the process has done so, and the command is run often.
const read = (setting: string) => process.env[setting]?.trim() ?? '';

function fail(why: string): void {
  process.stderr.write(`${why}\n`);
  process.exitCode = 1;
}

const [host, port] =
  name === 'web'
    ? [read('HOST'), read('PORT') || '3000']
    : [read('METRICS_HOST'), read('WORKER_METRICS_PORT') || '0'];
// The process may listen on all addresses, and nothing connects to that one.
const hostname = /^(0\.0\.0\.0|::)?$/.test(host) ? 'localhost' : host;
if (port === '0') {
  const setting = name === 'web' ? 'PORT' : 'WORKER_METRICS_PORT';
  fail(`The port of ${name} is not known: set ${setting}`);
} else {
  const address = `${hostname}:${port}`;
  const request = get({ hostname, port, path: '/livez', agent: false }, (response) => {
    response.resume();
    if (response.statusCode !== 200) fail(`${name} at ${address} answered ${response.statusCode}`);
  });
  const late = setTimeout(
    () => request.destroy(new Error(`no answer within ${PATIENCE_MS / 1000} s`)),
    PATIENCE_MS,
  );
  request.on('error', ({ message, code }: NodeJS.ErrnoException) =>
    fail(`${name} at ${address} does not answer: ${message || code}`),
  );
  request.on('close', () => clearTimeout(late));
}
