import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';

/** The type of the event that the later release adds to each page of updates. */
export const LATER_EVENT = 'garden.watered';

/** Request headers that concern one connection, which `fetch` does not send. */
const OF_ONE_CONNECTION = [
  ...['connection', 'content-length', 'expect', 'host', 'http2-settings'],
  ...['transfer-encoding', 'upgrade'],
];

const LATER_FIELD = { added_later: 'by a later release' };

/** Adds a field to every object within `value`. */
function extend(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(extend);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [name, extend(field)] as const);
  return { ...Object.fromEntries(fields), ...LATER_FIELD };
}

/**
 * Starts a server on loopback that answers as a later release of the service at `baseUrl` may: each
 * page of updates has an event of a new type, about a new type of subject, and each object of a
 * successful JSON answer has a new field (docs/reference/wire-contract.md). Returns its address.
 */
export async function startLaterRelease(t: Test, baseUrl: string): Promise<string> {
  async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
    try {
      const url = new URL(req.url ?? '/', baseUrl);
      const headers = new Headers(req.headers as Record<string, string>);
      for (const name of OF_ONE_CONNECTION) headers.delete(name);
      if (headers.has('origin')) headers.set('origin', baseUrl);
      const sent = await buffer(req);
      const body = sent.length > 0 ? { body: sent } : {};
      const reply = await fetch(url, { method: req.method ?? 'GET', headers, ...body });
      const answer = await reply.json();
      if (url.pathname === '/api/v1/updates' && reply.ok) {
        const last = answer.events.at(-1);
        const subject = { type: 'garden', id: randomUUID() };
        const data = { litres: 12, beds: [{ name: 'Roses' }], reason: null };
        const later = { ...last, id: randomUUID(), sequence: last.sequence + 1 };
        answer.events.push({ ...later, type: LATER_EVENT, subject, data });
      }
      res.writeHead(reply.status, { 'content-type': 'application/json' });
      res.end(JSON.stringify(reply.ok ? extend(answer) : answer));
    } catch (error) {
      res.writeHead(502).end(String(error));
    }
  }
  const server = createServer((req, res) => void forward(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
