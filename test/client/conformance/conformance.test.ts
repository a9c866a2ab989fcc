import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { transformSync } from 'esbuild';
import t, { type Test } from 'tap';
import { bootstrap, newCredential, toAuthorization } from '../../../harness/agent.ts';
import { createApi } from '../../../harness/api.ts';
import { temporaryFolder } from '../../../harness/temporary-folder.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { installPackedClient } from '../../support/packed-client.ts';
import {
  addEntries,
  backUpFeeds,
  type FeedBackup,
  restoreFeeds,
} from '../../support/restored-log.ts';
import { type Service, startService } from '../../support/service.ts';

// The conformance list of the clients (clients/conformance/cases.json) against the real service, by a
// driver for each client: a process that reads a command on each line and prints its outcome.

// Twenty-three cases for each client, each with processes of the client.
t.setTimeout(1_200_000);

const ROOT = join(import.meta.dirname, '../../..');

type Options = Record<string, number>;

interface Command {
  op: string;
  cursor?: string | undefined;
  /** Goes on from the cursor of the updates that were read last. */
  from?: 'last';
  [field: string]: unknown;
}

interface Fault {
  cut?: string;
  after?: number;
  stall?: string;
  answer?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: object | string;
}

interface Step {
  do?: Command;
  client?: 'a' | 'b';
  kill?: boolean;
  together?: Command[];
  expect?: object;
  fault?: Fault;
  act?: 'revoke' | 'add_events' | 'back_up' | 'restore';
  count?: number | 'cuts';
  restart?: Options;
  check?: 'events';
  type?: string;
  cut_at_every_byte_of?: string;
  before?: Command;
}

interface Case {
  name: string;
  needs?: 'resume' | 'shared_store';
  options?: Options;
  steps: Step[];
}

interface Outcome {
  ok: boolean;
  waits: number[];
  cursor?: string | null;
  error?: object;
}

const CASES = JSON.parse(
  readFileSync(join(ROOT, 'clients/conformance/cases.json'), 'utf8'),
) as Case[];

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The steps of a case with other ids, since cases share a service. */
function withNewIds(steps: readonly Step[]): Step[] {
  const ids = new Map<string, string>();
  const text = JSON.stringify(steps).replace(UUID, (id) => {
    const other = ids.get(id) ?? randomUUID();
    ids.set(id, other);
    return other;
  });
  return JSON.parse(text);
}

/** Whether a case changes read models without events, after which they are not compared with their rebuild. */
const tampers = (steps: readonly Step[]) =>
  steps.some(({ act }) => act === 'add_events' || act === 'restore');

interface Driver {
  command: string[];
  /** Why the cases of this client are left out. */
  skip?: string | undefined;
}

const { CLIENT_PYTHON: python = '', NODE_20: node20 = '' } = process.env;
const needsPython = python ? undefined : 'CLIENT_PYTHON names no Python that has clients/python';
const needsNode20 = node20 ? undefined : 'NODE_20 is not set to the path of a Node 20';
const pythonDriver = join(ROOT, 'clients/conformance/driver.py');
const packed = await installDriver();

// The packed client, and the wheel that is installed in CLIENT_PYTHON: not the sources.
const DRIVERS: Record<string, Driver> = {
  TypeScript: { command: [process.execPath, packed] },
  'TypeScript on Node 20': { command: [node20, packed], skip: needsNode20 },
  Python: { command: [python, pythonDriver], skip: needsPython },
  'Python with async': { command: [python, pythonDriver, '--async'], skip: needsPython },
};

/** Writes the driver for the packed client into a project that has it, as JavaScript for Node 20. */
async function installDriver(): Promise<string> {
  const { path } = await installPackedClient(t);
  const source = readFileSync(join(import.meta.dirname, 'driver.ts'), 'utf8')
    .replace('../../../client/public.ts', 'service-client')
    .replace('../../../client/file-store.ts', 'service-client/file-store');
  const file = join(path, 'driver.js');
  writeFileSync(file, transformSync(source, { loader: 'ts', target: 'node20' }).code);
  return file;
}

/** Starts a driver on a folder; `ask` sends it a command and waits for the outcome. */
async function startDriver(command: string[], url: string, folder: string, options: Options) {
  const [program = '', script = '', ...flags] = command;
  const args = [script, url, folder, JSON.stringify(options), ...flags];
  const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[
    Symbol.asyncIterator
  ]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the driver ended');
    return JSON.parse(value);
  };
  const { features } = (await next()) as { features: string[] };
  return {
    features,
    async ask(given: Command): Promise<Outcome> {
      child.stdin?.write(`${JSON.stringify(given)}\n`);
      const outcome = await next();
      // Half of a pause is random, where the service asked for none.
      return { ...outcome, waits: outcome.waits.map(rounded) };
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A first pause, which is 0.125 to 0.25 seconds, as 0.2; others in whole seconds. */
const rounded = (seconds: number): number => (seconds <= 0.25 ? 0.2 : Math.round(seconds));

async function countEvents({ database }: Service, memberId: string, type: string) {
  const { rows } = await database.pool.query(
    'SELECT count(*)::int FROM feed WHERE member_id = $1 AND type = $2',
    [memberId, type],
  );
  return rows[0].count as number;
}

/** A service behind a proxy, which is its public address: registration requires that one. */
async function startProxied(t: Test) {
  const proxy = await startFaultProxy(t, () => service.baseUrl);
  const service: Service = await startService(t, {
    BASE_URL: proxy.url,
    LIMIT_WRITES_PER_DAY: '100000',
    LIMIT_BOOTSTRAP_ATTEMPTS: '1000',
  });
  return { proxy, service };
}

/** For all cases but those that tamper. */
const shared = await startProxied(t);

for (const [language, { command, skip }] of Object.entries(DRIVERS)) {
  if (skip) console.error(`SKIPPED: the client in ${language}; ${skip}`);
  for (const { name, needs, options = {}, steps } of CASES)
    t.test(`${language}: ${name}`, { skip: skip ?? false }, async (t) => {
      const { proxy, service } = tampers(steps) ? await startProxied(t) : shared;
      const loggedBefore = service.logged.length;
      const { path, remove } = temporaryFolder('conformance');
      t.teardown(remove);
      const history: string[] = [];
      t.teardown(() => {
        if (t.passing()) return;
        const logged = service.logged.slice(loggedBefore);
        console.error(toReport(`${language}: ${name}`, history, logged));
      });
      const drivers = new Map<string, Awaited<ReturnType<typeof startDriver>>>();
      t.teardown(async () => {
        for (const driver of drivers.values()) await driver.kill();
      });
      let settings = options;
      const driverOf = async (which: string) => {
        const driver =
          drivers.get(which) ?? (await startDriver(command, proxy.url, path, settings));
        drivers.set(which, driver);
        return driver;
      };
      const stop = async (which: string) => {
        await drivers.get(which)?.kill();
        drivers.delete(which);
      };

      const first = await driverOf('a');
      if (needs && !first.features.includes(needs)) {
        t.pass(`needs ${needs}, which this client does not have`);
        return;
      }
      const registered = (await first.ask({ op: 'register' })) as Outcome & { member: string };
      if (!registered.ok) throw new Error(JSON.stringify(registered));
      const { member } = registered;
      let last: string | undefined;
      let backup: FeedBackup = [];
      let cuts = 0;
      let stalled: Promise<void> | undefined;

      const ask = async (which: string, { from, ...given }: Command) => {
        const driver = await driverOf(which);
        const command = from ? { ...given, cursor: last } : given;
        history.push(`${which} < ${JSON.stringify(command)}`);
        const outcome = await driver.ask(command);
        history.push(`${which} > ${JSON.stringify(outcome)}`);
        last = outcome.cursor ?? last;
        return outcome;
      };

      for (const step of withNewIds(steps)) {
        const { fault, act, check, count = 0, client = 'a', expect = {} } = step;
        if (!step.do) history.push(JSON.stringify(step));
        if (fault) stalled = strike(proxy, fault);
        if (act === 'add_events') await addEntries(service, member, Number(count));
        if (act === 'back_up') backup = await backUpFeeds(service);
        if (act === 'restore') await restoreFeeds(service, backup);
        if (act === 'revoke') await revokeAll(proxy, path);
        if (step.restart) {
          settings = step.restart;
          await stop('a');
        }
        if (step.together) {
          const all = await Promise.all(
            step.together.map((given, index) => ask(index === 0 ? 'a' : 'b', given)),
          );
          for (const outcome of all) t.match(outcome, expect, JSON.stringify(outcome));
        }
        if (step.cut_at_every_byte_of && step.do && step.before) {
          const { cut_at_every_byte_of: request, before } = step;
          for (const at of await proxy.lengthOf(request, async () => {
            t.match(await ask('a', before), { ok: true });
            t.match(await ask('a', step.do as Command), { ok: true });
          })) {
            t.match(await ask('a', before), { ok: true }, `before the cut at ${at}`);
            history.push(`cut at ${at}`);
            proxy.cutResponseTo(request, at);
            t.match(await ask('a', step.do), expect, `cut at byte ${at}`);
            cuts += 1;
          }
          // The one by which the length was found is there, too.
          cuts += 1;
          t.ok(cuts > 50, `${cuts} cuts`);
        } else if (step.do && step.kill) {
          // The driver ends without an outcome; one that comes earlier is the failure.
          const outcome = (await driverOf(client)).ask(step.do).then(
            (early) => t.fail(`an answer before its process was killed: ${JSON.stringify(early)}`),
            () => undefined,
          );
          await Promise.race([stalled, outcome]);
          await stop(client);
        } else if (step.do) {
          const outcome = await ask(client, step.do);
          t.match(outcome, expect, `${JSON.stringify(step.do)}: ${JSON.stringify(outcome)}`);
        }
        if (check === 'events') {
          const expected = count === 'cuts' ? cuts : count;
          const type = step.type ?? '';
          t.equal(await countEvents(service, member, type), expected, type);
        }
      }
      t.notOk(proxy.isArmed(), 'every fault has struck');
    });
}

/** What the clients were asked and answered, and the requests of the service, after a failure. */
function toReport(title: string, history: readonly string[], logged: readonly string[]): string {
  const requests = logged
    .map((line) => JSON.parse(line))
    .filter(({ msg, level }) => msg === 'request' || level !== 'debug')
    .map(({ time, method, route, status, code, ms, credential, msg }) =>
      [
        time.slice(11),
        ...(msg === 'request' ? [method, route, status, code, `${ms} ms`, credential] : [msg]),
      ].join(' '),
    );
  const newest = (lines: readonly string[]) => lines.slice(-60).join('\n');
  return `FAILED: ${title}\nCommands and outcomes:\n${newest(history)}\nRequests of the service:\n${newest(requests)}`;
}

type Proxy = Awaited<ReturnType<typeof startFaultProxy>>;

function strike(proxy: Proxy, { cut, after = 0, stall, answer, status, headers, body }: Fault) {
  if (cut) proxy.cutResponseTo(cut, after);
  if (stall) return proxy.stallResponseTo(stall);
  if (!answer) return undefined;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const all = {
    date: new Date().toUTCString(),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  proxy.answerTo(answer, `HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n${text}`);
  return undefined;
}

/** Ends every credential of the member whose identity is in the folder, as the member could. */
async function revokeAll(proxy: Proxy, folder: string): Promise<void> {
  const api = createApi(proxy.url);
  const identity = JSON.parse(readFileSync(join(folder, 'identity.json'), 'utf8'));
  const credential = newCredential(['credential:manage']);
  const made = await bootstrap(api, identity, credential);
  if (made.status !== 201) throw new Error(made.text);
  const ended = await api.call('POST', '/api/v1/me/credentials/revoke', {
    body: { all_others: true },
    headers: { authorization: toAuthorization(credential), 'idempotency-key': randomUUID() },
  });
  if (ended.status !== 200) throw new Error(ended.text);
}
