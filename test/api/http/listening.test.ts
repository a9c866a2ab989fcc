import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { createDraining } from '../../../platform/http/draining.ts';
import { listen } from '../../../platform/http/listen.ts';
import { createHttpServer } from '../../../platform/http/server.ts';
import { startProcess } from '../../support/processes.ts';

/**
 * Returns the message of a web process that cannot listen: one line on stdout, nothing on stderr.
 */
async function readFatalMessage(t: Test, settings: Record<string, string>): Promise<string> {
  const { child, end } = await startProcess(t, 'web', ['ignore', 'pipe', 'pipe'], settings);
  if (!child.stdout || !child.stderr) throw new Error('the process has no output streams');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  t.same(await end(), [1, null]);
  t.equal(errors, '', 'no stack trace on stderr');
  const [fatal, ...more] = output.split('\n').filter((line) => line.includes('"level":"fatal"'));
  t.same(more, []);
  return JSON.parse(fatal ?? '{}').msg;
}

t.test('reports a taken port in one line', async (t) => {
  const other = createServer((_req, res) => res.end('another')).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  t.equal(await readFatalMessage(t, { PORT: String(port) }), `PORT ${port} is taken`);
});

t.test('reports an invalid host in one line', async (t) => {
  t.match(await readFatalMessage(t, { HOST: 'bad host!' }), /^Cannot listen on bad host!:\d+$/);
});

t.test('accepts connections at every socket of its port until it is drained', async (t) => {
  const server = createHttpServer((_req, res) => res.end('hello'));
  const draining = createDraining(server);
  const options = { host: '127.0.0.1', maxConnections: 2000 };
  const listeners = await listen(server, { ...options, port: 0 });
  const { port } = server.address() as AddressInfo;
  t.equal(listeners.length, process.platform === 'linux' ? 4 : 1);
  for (const listener of listeners) t.equal(listener.maxConnections, 2000 / listeners.length);
  const accepted = new Set<object>();
  for (const listener of listeners) listener.on('connection', () => accepted.add(listener));
  const url = `http://127.0.0.1:${port}/`;
  const headers = { connection: 'close' };
  // The kernel spreads connections at random: 100 of them leave out no socket of four.
  for (let turn = 0; turn < 100; turn++)
    t.equal(await (await fetch(url, { headers })).text(), 'hello');
  t.equal(accepted.size, listeners.length);

  const again = listen(createServer(), { ...options, port });
  await t.rejects(again, { code: 'EADDRINUSE' }, 'shares the port with no other process');
  await draining.close(listeners);
  const [error] = await once(connect(port, '127.0.0.1'), 'error');
  t.equal(error.code, 'ECONNREFUSED');
});
