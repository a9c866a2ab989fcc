import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { startProcess } from '../../support/processes.ts';

/**
 * Returns the message of a web process that cannot listen: one line on stdout, nothing on stderr.
 */
async function readFatalMessage(t: Test, settings: Record<string, string>): Promise<string> {
  const { child, end } = await startProcess(t, 'web', ['ignore', 'pipe', 'pipe'], settings);
  if (!child.stdout || !child.stderr) throw new Error('the process has no output streams');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  t.same(await end(10_000), [1, null]);
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
