import { execFileSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * Starts a receiver of notices on loopback, which keeps every call. `answer` responds; by default, it
 * accepts.
 */
export async function startReceiver(
  t: { teardown(end: () => void): unknown },
  answer: (response: ServerResponse, call: ReceivedCall) => void = (response) => {
    response.writeHead(204).end();
  },
) {
  const calls: ReceivedCall[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      const call = { path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      answer(response, call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { calls, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const VERIFIER = `import base64, hashlib, hmac, json, sys
given = json.load(sys.stdin)
headers = given["headers"]
key = base64.b64decode(given["secret"].removeprefix("whsec_"))
signed = ".".join([headers["webhook-id"], headers["webhook-timestamp"], given["body"]])
expected = base64.b64encode(hmac.new(key, signed.encode(), hashlib.sha256).digest()).decode()
versions = [part.split(",", 1) for part in headers["webhook-signature"].split(" ")]
print("valid" if any(v == "v1" and hmac.compare_digest(s, expected) for v, s in versions) else "invalid")`;

/** Whether a call is signed as Standard Webhooks, by another implementation: Python's standard library. */
export const isSigned = (call: Pick<ReceivedCall, 'headers' | 'body'>, secret: string): boolean =>
  execFileSync('python3', ['-c', VERIFIER], {
    encoding: 'utf8',
    input: JSON.stringify({ secret, ...call }),
  }).trim() === 'valid';
