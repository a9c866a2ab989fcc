import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { createCertificate } from '../../harness/certificate.ts';

type Ending = { teardown(end: () => Promise<void>): unknown };

/**
 * Starts a TLS proxy at `https://address` in front of the HTTP server of `first`, with a self-signed
 * certificate, which it keeps in `folder`.
 */
export async function startTlsProxy(t: Ending, folder: string, address: string, first: string) {
  let target = new URL(first);
  const { cert, key } = createCertificate(folder, `IP:${address}`);
  const sockets = new Set<TLSSocket>();
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (client) => {
    const upstream = connect(Number(target.port), target.hostname);
    sockets.add(client);
    for (const socket of [client, upstream]) {
      socket.on('error', () => undefined);
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `https://${address}:${(server.address() as AddressInfo).port}`,
    certificate: cert,
    /** New connections go to the server of `url`. */
    aim(url: string) {
      target = new URL(url);
    },
  };
}
