import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { runningPostmaster } from '../../platform/embedded/postmaster.ts';
import { whyElsewhere } from '../../services/localhost.ts';

const START = new URL('../../services/start.ts', import.meta.url).pathname;

// A web process that reports ready immediately, drains for 200 ms, and notices when its supervisor
// is gone.
const web = `
  import { createServer } from 'node:http';
  import { writeFileSync } from 'node:fs';
  import { onParentGone } from '${new URL('../../platform/supervisor/child.ts', import.meta.url).href}';
  const server = createServer((_, response) => response.end());
  server.listen(Number(process.env.PORT), '127.0.0.1', () => {
    console.log('port', process.env.PORT);
    process.send('listening');
  });
  const drain = (why) => { console.log('draining', why); server.close();
    setTimeout(() => { writeFileSync('drained', why); process.exit(0); }, 200); };
  process.once('SIGTERM', () => drain('asked'));
  onParentGone(() => drain('orphaned'));
  // Last, because the tests end the process once they see it.
  writeFileSync('web.pid', String(process.pid));`;

type Files = { procfile: string; [script: string]: string };

function project(t: { teardown(end: () => void): unknown }, files: Files) {
  const { path, remove } = temporaryFolder('supervisor');
  const { procfile, ...scripts } = files;
  writeFileSync(join(path, 'Procfile'), procfile);
  for (const [name, script] of Object.entries(scripts))
    writeFileSync(join(path, `${name}.mjs`), script);
  const running: ChildProcess[] = [];
  t.teardown(() => {
    for (const child of running) child.kill('SIGKILL');
    remove();
  });
  const start = async (args: string[] = [], env: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [START, ...args], {
      cwd: path,
      env: { ...INHERITED_ENV, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', ...env },
    });
    running.push(child);
    const run = {
      child,
      output: '',
      exit: once(child, 'exit') as Promise<[number | null, string]>,
    };
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => {
        run.output += String(chunk);
      });
    return run;
  };
  return { path, start, read: (name: string) => readFileSync(join(path, name), 'utf8') };
}

// Creating a cluster alone flushes a thousand files, which takes half a minute on a busy disk.
const PATIENCE_MS = 300_000;

async function until(condition: () => boolean, describe: () => string): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !condition(); await sleep(20))
    if (Date.now() > end) throw new Error(`waited in vain: ${describe()}`);
}

type Run = { readonly child: ChildProcess; readonly output: string };

function ready(run: Run): Promise<void> {
  const said = () => run.output.includes('Ready: ');
  const ended = () => run.child.exitCode !== null || run.child.signalCode !== null;
  return until(
    () => {
      if (ended() && !said()) throw new Error(`ended before it was ready: ${run.output}`);
      return said();
    },
    () => `ready: ${run.output}`,
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const idle = 'setInterval(() => {}, 1000); console.log("working");';

t.test('starts all processes, prints the address and drains on repeated signals', async (t) => {
  const procfile = 'web: node web.mjs\nworker: KIND=good node worker.mjs\n';
  const worker = `console.log(process.env.KIND, process.env.WORKER_METRICS_PORT);${idle}`;
  const { start, read } = project(t, { procfile, web, worker });
  const port = await freePort();
  const run = await start(['worker=2'], { PORT: port, WORKER_METRICS_PORT: '7000' });
  await ready(run);
  t.match(run.output, new RegExp(`start +\\| Ready: http://localhost:${port}\n`));
  // Only the web process determines readiness; a worker may still be starting.
  await until(
    () => ['7000', '7001'].every((port) => run.output.includes(port)),
    () => `both workers: ${run.output}`,
  );
  t.match(run.output, new RegExp(`web\\.1 +\\| port ${port}`));
  t.match(run.output, /worker\.1 \| good 7000/);
  t.match(run.output, /worker\.2 \| good 7001/);
  run.child.kill('SIGTERM');
  run.child.kill('SIGTERM');
  run.child.kill('SIGINT');
  t.same(await run.exit, [0, null]);
  t.equal(read('drained'), 'asked');
});

t.test('stops all processes when one ends, and names it', async (t) => {
  const worker = `import { existsSync } from 'node:fs';
    setInterval(() => existsSync('web.pid') && setTimeout(() => process.exit(3), 300), 50);`;
  const procfile = 'web: node web.mjs\nworker: node worker.mjs\n';
  const { start, read } = project(t, { procfile, web, worker });
  const run = await start([], { PORT: await freePort() });
  t.same(await run.exit, [1, null]);
  t.match(run.output, /worker\.1: exit status 3: stopping everything/);
  t.equal(read('drained'), 'asked');
});

t.test("does not report ready on another server's port", async (t) => {
  const port = await freePort();
  const other = createServer((_, response) => response.end()).listen(Number(port), '127.0.0.1');
  t.teardown(() => other.close());
  const { start } = project(t, {
    procfile: 'web: node web.mjs\n',
    web: 'setTimeout(() => process.exit(1), 500);',
  });
  const run = await start([], { PORT: port });
  t.same(await run.exit, [1, null]);
  t.notMatch(run.output, /Ready/);
});

t.test('starts nothing after a failed release', async (t) => {
  const procfile = 'web: node web.mjs\nrelease: node release.mjs\n';
  const { start, path } = project(t, { procfile, web, release: 'process.exit(4)' });
  const run = await start([], { PORT: await freePort() });
  t.same(await run.exit, [1, null]);
  t.match(run.output, /release: exit status 4/);
  t.throws(() => readFileSync(join(path, 'web.pid')));
});

t.test('reports faults of configuration, Procfile and counts', async (t) => {
  const { start } = project(t, { procfile: 'worker: node worker.mjs\n', worker: idle });
  const expectFault = async (args: string[], env: Record<string, string>, message: RegExp) => {
    const run = await start(args, env);
    t.same(await run.exit, [1, null]);
    t.match(run.output, message);
  };
  await expectFault([], { PORT: 'x', API_OPEN: 'x' }, /PORT must be[\s\S]*API_OPEN must be/);
  await expectFault([], { PORT: '0' }, /npm start requires a fixed PORT/);
  await expectFault(['wroker=2'], {}, /"wroker=2" is not the count/);
});

t.test('drains the children of a killed supervisor', async (t) => {
  const { start, read } = project(t, { procfile: 'web: node web.mjs\n', web });
  const run = await start([], { PORT: await freePort() });
  await ready(run);
  const pid = Number(read('web.pid'));
  run.child.kill('SIGKILL');
  await until(
    () => !isAlive(pid),
    () => 'the child ends',
  );
  t.equal(read('drained'), 'orphaned');
});

const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
);
const needsIpv6 = { skip: hasIpv6 ? false : 'this machine has no ::1' };

t.test('says that another program answers where browsers may look', needsIpv6, async (t) => {
  const { start } = project(t, { procfile: 'web: node web.mjs\n', web });
  const port = await freePort();
  const other = createServer().listen(Number(port), '::1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const run = await start([], { PORT: port });
  const said = `But another program answers at [::1]:${port}, where browsers may look for localhost: set another PORT\n`;
  await until(
    () => run.output.includes(said),
    () => run.output,
  );
  run.child.kill('SIGINT');
  t.same(await run.exit, [0, null]);
});

t.test('goes on where the reader of its output is gone, and stops in order', async (t) => {
  const { path, start } = project(t, { procfile: 'web: node web.mjs\n', web });
  const run = await start([], { PORT: await freePort() });
  await ready(run);
  run.child.stdout.destroy();
  run.child.kill('SIGINT');
  t.same(await run.exit, [0, null]);
  t.equal(readFileSync(join(path, 'drained'), 'utf8'), 'asked');
});

t.test('names memory where a process is killed from outside', async (t) => {
  const killed = `process.kill(process.pid, 'SIGKILL');`;
  const { start } = project(t, { procfile: 'web: node web.mjs\n', web: killed });
  const run = await start([], { PORT: await freePort() });
  t.same(await run.exit, [1, null]);
  const how = 'ended by SIGKILL, which the kernel sends where memory runs out';
  t.match(run.output, `web.1: ${how}: stopping everything`);
});

t.test('says which address localhost has where it is not the usual one', async (t) => {
  const why = (host: string, addresses: string[]) =>
    whyElsewhere('http://localhost:1', host, async () => addresses);
  t.same(await why('127.0.0.1', ['::1']), {
    text: 'localhost is not 127.0.0.1 on this machine',
    setting: 'HOST=::1',
  });
  t.equal(await why('127.0.0.1', ['::1', '127.0.0.1']), undefined);
  t.equal(await why('::1', ['::1']), undefined);
});

t.test('runs an embedded PostgreSQL', async (t) => {
  const procfile = 'web: node web.mjs\nrelease: node release.mjs\n';
  const release = 'console.log("release", new URL(process.env.DATABASE_URL).hostname);';
  const { path, start } = project(t, { procfile, web, release });
  const data = join(path, '.data', 'postgres', 'data');
  const embedded = async () => start([], { PORT: await freePort(), DATABASE_URL: '' });

  const first = await embedded();
  await ready(first);
  t.match(first.output, /release +\| release 127\.0\.0\.1/);

  const second = await embedded();
  t.same(await second.exit, [1, null]);
  t.match(second.output, /Already running with DATA_DIR/);

  first.child.kill('SIGKILL');
  const left = runningPostmaster(data)?.pid;
  t.ok(left, 'the server outlives a killed supervisor');
  const third = await embedded();
  await ready(third);
  t.equal(runningPostmaster(data)?.pid, left, 'the next start takes the server over');

  process.kill(left ?? process.pid, 'SIGKILL');
  t.same(await third.exit, [1, null]);
  t.match(third.output, /PostgreSQL ended: stopping everything\. Its log ends with\n.*\d{4}-/);

  const fourth = await embedded();
  await ready(fourth);
  fourth.child.kill('SIGINT');
  t.same(await fourth.exit, [0, null]);
  t.equal(runningPostmaster(data), undefined, 'PostgreSQL stops with the rest');
});
