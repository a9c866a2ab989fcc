import { readdirSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { verifyLog } from '../../cli/verify-log-command.ts';
import { HttpLog } from '../../cli/verify-log-http.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { formatCheckpoint } from '../../platform/tlog/checkpoint.ts';
import { EMPTY_ROOT, leafHash } from '../../platform/tlog/merkle.ts';
import { signingKey, signNote, verifierText } from '../../platform/tlog/note.ts';
import { createTreeEdge } from '../../platform/tlog/tree-edge.ts';

const NAME = 'log.example/log/1';
const KEY = signingKey(Buffer.alloc(32, 5));
const VERIFIER = verifierText(NAME, KEY);

/** The answers of a log of so many leaves, by path. */
function createLog(leaves: number, mark = 'leaf') {
  const edge = createTreeEdge(0, []);
  edge.append(Array.from({ length: leaves }, (_, at) => leafHash(Buffer.from(`${mark} ${at}`))));
  const [tile] = edge.takeChanged();
  const text = formatCheckpoint({
    origin: NAME,
    size: leaves,
    root: edge.root(),
    extensions: [],
  });
  return {
    '/log/checkpoint': signNote(text, NAME, [KEY]) as string | Buffer,
    [`/log/tile/0/000.p/${leaves}`]: (tile?.hashes ?? EMPTY_ROOT) as string | Buffer,
  };
}

/** A server that answers with these texts, and with 404 to all else; a text that begins with > redirects. */
async function serve(t: Test, answers: Record<string, string | Buffer>): Promise<string> {
  return listen(t, (req, res) => {
    const answer = answers[req.url ?? ''];
    if (typeof answer === 'string' && answer.startsWith('>'))
      res.writeHead(302, { location: answer.slice(1) }).end();
    else res.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
}

async function listen(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test(
  'fails closed on answers that are malformed, too long or not those of the tree',
  async (t) => {
    const log = createLog(5);
    const other = createLog(5, 'other');
    const good = await verifyLog([await serve(t, log), '--key', VERIFIER]);
    t.equal(good.status, 0, good.err);
    const tile = '/log/tile/0/000.p/5';
    const note = String(log['/log/checkpoint']);
    const faults: Record<string, Record<string, string | Buffer>> = {
      'no checkpoint': { [tile]: log[tile] ?? '' },
      'no tile': { '/log/checkpoint': note },
      'a short tile': { ...log, [tile]: Buffer.alloc(4 * 32) },
      'another tile': { ...log, [tile]: other[tile] ?? '' },
      'a tile that is too long': { ...log, [tile]: Buffer.alloc(2 ** 20) },
      'a checkpoint that is too long': { ...log, '/log/checkpoint': 'x'.repeat(2 ** 20) },
      'another size': { ...log, '/log/checkpoint': note.replace('\n5\n', '\n4\n') },
      'no signature': { ...log, '/log/checkpoint': `${note.split('\n\n')[0]}\n` },
      'a redirect': { ...log, '/log/checkpoint': '>/elsewhere', '/elsewhere': note },
    };
    for (const [what, answers] of Object.entries(faults)) {
      const { status, out, err } = await verifyLog([await serve(t, answers), '--key', VERIFIER]);
      t.match({ status, out }, { status: 1, out: '' }, what);
      t.match(err, /^Not verified: /, what);
    }
  },
);

t.test('fails closed on bodies that never end, bombs and slow drips', async (t) => {
  let sent = 0;
  const endless = await listen(t, (_req, res) => {
    const more = () => {
      while (!res.destroyed && res.write('x'.repeat(1024))) sent += 1024;
      if (!res.destroyed) res.once('drain', more);
    };
    more();
  });
  const refused = await verifyLog([endless, '--key', VERIFIER]);
  t.match(refused, { status: 1, out: '', err: /answers more than 65536 bytes/ });
  t.ok(sent < 10_000_000, 'the connection was closed');

  const bomb = gzipSync(Buffer.alloc(2 ** 26));
  t.ok(bomb.length < 100_000);
  const packed = await listen(t, (_req, res) =>
    res.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  );
  const unpacked = await verifyLog([packed, '--key', VERIFIER]);
  t.match(unpacked, { status: 1, out: '', err: /answers more than 65536 bytes/ });

  const dripping = await listen(t, (_req, res) => {
    res.write('x');
    const drip = setInterval(() => res.write('x'), 10);
    res.on('close', () => clearInterval(drip));
  });
  await t.rejects(new HttpLog(dripping, 200).checkpoint(), { name: 'TimeoutError' });
  const hanging = await listen(t, (req) => req.socket.destroy());
  t.match(await verifyLog([hanging, '--key', VERIFIER]), { status: 1, out: '' });
});

t.test('takes no path and no command for the terminal from the server', async (t) => {
  const asked: string[] = [];
  const { path, remove } = temporaryFolder('verify-log');
  t.teardown(remove);
  const key = signingKey(Buffer.alloc(32, 6));
  const name = '../../../../state';
  const text = formatCheckpoint({ origin: name, size: 0, root: EMPTY_ROOT, extensions: [] });
  const answers: Record<string, string> = {
    '/log/checkpoint': signNote(text, name, [key]),
    '/api/v1/discovery': JSON.stringify({ identity: { log_keys: [verifierText(name, key)] } }),
  };
  const url = await listen(t, (req, res) => {
    asked.push(req.url ?? '');
    res.writeHead(200).end(answers[req.url ?? '']);
  });
  t.equal((await verifyLog([url, '--state', join(path, 'state')])).status, 0);
  t.same(readdirSync(path), ['state']);
  t.same(new Set(asked), new Set(['/log/checkpoint', '/api/v1/discovery']));
  const evil = '\u001b[2Jlog.example';
  answers['/api/v1/discovery'] = JSON.stringify({
    identity: { log_keys: [verifierText(evil, key)] },
  });
  t.same(await verifyLog([url]), {
    status: 1,
    out: '',
    err: 'Not verified: the key is malformed\n',
  });
});

t.test('a size beyond all reason costs a bounded number of requests', async (t) => {
  const text = formatCheckpoint({
    origin: NAME,
    size: Number.MAX_SAFE_INTEGER,
    root: EMPTY_ROOT,
    extensions: [],
  });
  const url = await serve(t, { '/log/checkpoint': signNote(text, NAME, [KEY]) });
  t.equal((await verifyLog([url, '--key', VERIFIER])).status, 1);
});

t.test('a smaller tree under the same name is a fork, and the state stays', async (t) => {
  const { path, remove } = temporaryFolder('verify-log');
  t.teardown(remove);
  const args = ['--key', VERIFIER, '--state', join(path, 'state')];
  t.equal((await verifyLog([await serve(t, createLog(9)), ...args])).status, 0);
  const smaller = await verifyLog([await serve(t, createLog(5)), ...args]);
  t.match(smaller, { status: 3, err: /^FORK: the log had 9 events, and now shows 5 of them/ });
  const forked = await verifyLog([await serve(t, createLog(12, 'other')), ...args]);
  t.match(forked, { status: 3, err: /^FORK: the first 9 events are not those/ });
  t.match(await verifyLog([await serve(t, createLog(12)), ...args]), { status: 0 });
});

t.test('refuses arguments that it does not know', async (t) => {
  for (const args of [[], ['example.org'], ['http://a', '--key', 'x'], ['http://a', '--more']])
    t.match(await verifyLog(args), { status: 2, out: '', err: /Usage:/ });
  t.match(await verifyLog(['--help']), { status: 0, out: /^Usage:/ });
});
