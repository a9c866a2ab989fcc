import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createCertificate } from '../../harness/certificate.ts';
import { needs } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import {
  type Call,
  isSpecialAddress,
  postToReceiver,
} from '../../platform/http/post-to-receiver.ts';
import { startReceiver } from '../support/receiver.ts';

type Module = { postToReceiver: typeof postToReceiver };

const call = (url: string, more: Partial<Call> = {}): Call => ({
  url: new URL(url),
  headers: { 'content-type': 'text/plain' },
  body: 'hello',
  privateHosts: [],
  ...more,
});

t.test('posts to a loopback receiver and takes 2xx alone for acceptance', async (t) => {
  let status = 204;
  const { url, calls } = await startReceiver(t, (response) => response.writeHead(status).end());
  await postToReceiver(call(`${url}/hook?a=b`));
  t.match(calls, [{ path: '/hook?a=b', body: 'hello', headers: { 'content-type': 'text/plain' } }]);
  for (status of [304, 400, 410, 500])
    await t.rejects(postToReceiver(call(url)), { message: `status_${status}` });
});

t.test('follows no redirect', async (t) => {
  const target = await startReceiver(t);
  const { url } = await startReceiver(t, (response) =>
    response.writeHead(307, { location: target.url }).end(),
  );
  await t.rejects(postToReceiver(call(url)), { message: 'status_307' });
  t.same(target.calls, []);
});

t.test('refuses a certificate that no authority signed', needs('openssl'), async (t) => {
  const { path, remove } = temporaryFolder('receiver');
  const { cert, key } = createCertificate(path, 'IP:127.0.0.1');
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, () =>
    t.fail('the request must not arrive'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    remove();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await t.rejects(postToReceiver(call(url)), { message: /self_signed/ });
});

t.test('resolves a name once, and connects to that address', async (t) => {
  const { url, calls } = await startReceiver(t);
  let lookups = 0;
  const { postToReceiver } = await t.mockImport<Module>('../../platform/http/post-to-receiver.ts', {
    'node:dns/promises': {
      lookup: async () => ({ address: ++lookups === 1 ? '127.0.0.1' : '192.0.2.1' }),
    },
  });
  const { port } = new URL(url);
  const named = call(`http://hook.example:${port}/`, { privateHosts: ['hook.example'] });
  await postToReceiver(named);
  t.equal(lookups, 1);
  t.match(calls, [{ headers: { host: `hook.example:${port}` } }]);
});

t.test(
  'calls no private, link-local or metadata address that the operator has not named',
  async (t) => {
    const { url, calls } = await startReceiver(t);
    const { port } = new URL(url);
    let address = '';
    const { postToReceiver } = await t.mockImport<Module>(
      '../../platform/http/post-to-receiver.ts',
      {
        'node:dns/promises': { lookup: async () => ({ address }) },
      },
    );
    for (address of [
      ...['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', '169.254.169.254', '127.0.0.1'],
      ...['0.0.0.0', '255.255.255.255', '224.0.0.1', '::', '::1', 'fe80::1', 'fd00:ec2::254'],
      ...['::ffff:10.0.0.1', '::ffff:127.0.0.1', '64:ff9b::a00:1', '2002:a00:1::'],
    ])
      await t.rejects(
        postToReceiver(call(`http://hook.example:${port}/`, { privateHosts: ['other.example'] })),
        { message: 'private_address' },
        address,
      );
    t.same(calls, []);
    for (address of ['1.1.1.1', '172.32.0.1', '2606:4700::1111'])
      t.notOk(isSpecialAddress(address), address);
  },
);

t.test('ends after its time, and reads at most 1 KiB of the answer', async (t) => {
  const silent = await startReceiver(t, () => undefined);
  await t.rejects(postToReceiver(call(silent.url), 50), { message: 'timeout' });
  const dripping = await startReceiver(t, (response) => void response.writeHead(200).write('x'));
  await t.rejects(postToReceiver(call(dripping.url), 50), { message: 'timeout' });

  let sent = 0;
  const endless = await startReceiver(t, (response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1024))) sent += 1024;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await postToReceiver(call(endless.url));
  t.ok(sent < 10_000_000, 'the connection was closed');
});

t.test('says nothing of the address when it fails', async (t) => {
  const { url } = await startReceiver(t, (response) => response.writeHead(500).end('secret words'));
  for (const target of [
    `${url}/path-word?query-word`,
    'https://no-host.invalid/path-word?query-word',
  ])
    await postToReceiver(call(target)).then(
      () => t.fail('must fail'),
      (error: Error) => t.notMatch(`${error.stack} ${JSON.stringify(error)}`, /word|no-host/),
    );
});
