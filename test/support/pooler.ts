import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

type Ending = { teardown(end: () => Promise<void>): unknown };

/** Startup parameters that transaction poolers pass on. */
const ALLOWED_PARAMETERS = ['user', 'database', 'application_name', 'client_encoding'];
/** Type and length of BackendKeyData, with which the server sends its process id and secret. */
const KEY = Buffer.from('K\0\0\0\x0c', 'latin1');
const ITS_OWN_PID = 7;

/** Proxies `target` like a transaction pooler: few startup parameters, and a fake process id. */
export async function startPooler(t: Ending, target: string) {
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.once('data', (bytes: Buffer) => {
      const unknown = namesIn(bytes).find((name) => !ALLOWED_PARAMETERS.includes(name));
      if (unknown) return client.end(refusal(`unsupported startup parameter: ${unknown}`));
      upstream.write(bytes);
      client.pipe(upstream);
    });
    let sent = false;
    upstream.on('data', (bytes: Buffer) => {
      const key = sent ? -1 : bytes.indexOf(KEY);
      if (key >= 0) bytes.writeInt32BE(ITS_OWN_PID, key + KEY.length);
      sent ||= key >= 0;
      client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return url.href;
}

/** The parameter names of a startup message: length, version, then names and values in turn. */
const namesIn = (bytes: Buffer) =>
  bytes
    .toString('latin1', 8)
    .split('\0')
    .filter((text, index) => index % 2 === 0 && text !== '');

function refusal(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
