import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { startProcess } from '../../support/processes.ts';

/** What a web that cannot listen says, in one line and on nothing but its output. */
async function told(t: Test, settings: Record<string, string>): Promise<string> {
  const { child, end } = await startProcess(t, 'web', ['ignore', 'pipe', 'pipe'], settings);
  if (!child.stdout || !child.stderr) throw new Error('it has no output');
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  t.same(await end(10_000), [1, null]);
  t.equal(errors, '', 'no stack of an uncaught error');
  const [fatal, ...more] = output.split('\n').filter((line) => line.includes('"level":60'));
  t.same(more, []);
  return JSON.parse(fatal ?? '{}').msg;
}

t.test('a port that is taken is told in a line', async (t) => {
  const other = createServer((_req, res) => res.end('another')).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  t.equal(await told(t, { PORT: String(port) }), `PORT ${port} is taken`);
});

t.test('a host that is none is told in a line', async (t) => {
  t.match(await told(t, { HOST: 'bad host!' }), /^Cannot listen on bad host!:\d+$/);
});
