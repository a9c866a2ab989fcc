import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** The body of a refusal because of a limit. */
export const REFUSAL =
  '{"status":"rate_limited","error":{"code":"rate_limited","message":"Too many."}}';

/** The address of a server that refuses each request with a 429 whose limit ends tomorrow. */
export async function refusingService(t: Test): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '86400' });
    response.end(REFUSAL);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
