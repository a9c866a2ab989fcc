import { get } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { preferredEncoding } from '../../../platform/http/compression.ts';
import { type Service, startService } from '../../support/service.ts';

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync };
const ENCODINGS = Object.keys(DECODE) as (keyof typeof DECODE)[];

/** Returns the response as on the wire; `fetch` would decode it. */
function fetchRaw(service: Service, path: string, headers: Record<string, string>, method = 'GET') {
  return new Promise<{
    status: number | undefined;
    headers: Record<string, string>;
    bytes: Buffer;
  }>((resolve, reject) => {
    get(`${service.baseUrl}${path}`, { headers, method }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () =>
        resolve({
          status: res.statusCode,
          headers: res.headers as Record<string, string>,
          bytes: Buffer.concat(chunks),
        }),
      );
    }).on('error', reject);
  });
}

t.test('prefers the encoding of the highest quality, and brotli among equals', (t) => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['deflate, zstd', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['GZIP ; Q=0.000, Br ; q=1', 'br'],
    ['gzip;q=0.5, br;q=0', 'gzip'],
    ['gzip;q=0.9, br;q=0.8', 'gzip'],
    ['br;q=0.5, gzip;q=0.5', 'br'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip', 'gzip'],
    ['gzip;q=nonsense', undefined],
    ['gzip;level=9', 'gzip'],
  ];
  for (const [header, encoding] of cases)
    t.equal(preferredEncoding(header), encoding, header ?? 'none');
  t.end();
});

t.test('compresses JSON and text for callers that accept it, and says so', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const summary = 'The lamp of the harbour. '.repeat(50);
  await createOpenCase(createCaseCommands(agent), { summary });
  const { authorization } = agent;
  for (const path of ['/api/v1/cases', '/openapi.json', '/docs/docs.css', '/for-agents.md']) {
    const plain = await fetchRaw(service, path, { authorization });
    t.equal(plain.status, 200, path);
    t.equal(plain.headers['content-encoding'], undefined);
    t.equal(plain.headers.vary, 'accept-encoding', path);
    for (const encoding of ENCODINGS) {
      const headers = { authorization, 'accept-encoding': encoding };
      const answer = await fetchRaw(service, path, headers);
      t.equal(answer.headers['content-encoding'], encoding, path);
      t.equal(answer.headers.vary, 'accept-encoding');
      t.equal(Number(answer.headers['content-length']), answer.bytes.length);
      t.ok(answer.bytes.length < plain.bytes.length / 1.5, `${path} ${answer.bytes.length}`);
      t.same(DECODE[encoding](answer.bytes), plain.bytes, path);
      const head = await fetchRaw(service, path, headers, 'HEAD');
      t.equal(head.headers['content-length'], answer.headers['content-length'], path);
      t.equal(head.headers.etag, answer.headers.etag);
    }
  }
});

t.test('sends short responses, refusals and streams uncompressed', async (t) => {
  const service = await startService(t);
  const { authorization } = await newAgent(service);
  const moderator = await addModerator(service, 'ann');
  const accept = { 'accept-encoding': 'br, gzip' };
  for (const path of ['/livez', '/moderation', '/nothing', '/api/v1/me', '/api/v1/me/export']) {
    const answer = await fetchRaw(service, path, { ...accept, authorization });
    t.equal(answer.headers['content-encoding'], undefined, path);
    // The form of an error at an address of nothing depends on Accept.
    t.equal(answer.headers.vary, path === '/nothing' ? 'accept' : undefined, path);
  }
  const stream = await fetch(`${service.baseUrl}/api/moderation/stream`, {
    headers: { ...accept, authorization: `Bearer ${moderator.token}` },
  });
  t.equal(stream.headers.get('content-type'), 'text/event-stream');
  t.equal(stream.headers.get('content-encoding'), null);
  await stream.body?.cancel();
});

t.test('gives each encoding its own ETag and revalidates any of them', async (t) => {
  const service = await startService(t);
  const etags = new Map<string, string>();
  for (const encoding of ['identity', ...ENCODINGS]) {
    const { headers } = await fetchRaw(service, '/openapi.json', { 'accept-encoding': encoding });
    t.match(headers.etag, /^"[^"]+"$/, 'the ETag is strong');
    etags.set(encoding, headers.etag ?? '');
  }
  t.equal(new Set(etags.values()).size, 3);
  for (const cached of etags.values())
    for (const encoding of etags.keys())
      for (const tags of [cached, `W/${cached}`, `"other", ${cached}`]) {
        const { status, headers, bytes } = await fetchRaw(service, '/openapi.json', {
          'accept-encoding': encoding,
          'if-none-match': tags,
        });
        t.same([status, bytes.length], [304, 0], `${tags} ${encoding}`);
        t.equal(headers.etag, cached, 'the response repeats the ETag of the request');
        t.equal(headers.vary, 'accept-encoding');
        t.equal(headers['content-encoding'], undefined);
      }
  const other = await fetchRaw(service, '/openapi.json', { 'if-none-match': '"other-br"' });
  t.equal(other.status, 200);
});

t.test('restricts pages to their own origin and opens anonymous reads to all', async (t) => {
  const service = await startService(t);
  const { authorization } = await newAgent(service);
  const cases: [string, string, string | null][] = [
    ['/', 'same-origin', null],
    ['/moderation', 'same-origin', null],
    ['/docs', 'same-origin', null],
    ['/api/v1/me', 'same-origin', null],
    ['/nothing', 'same-origin', null],
    ['/api/moderation/queue', 'same-origin', null],
    ['/api/v1/cases', 'cross-origin', '*'],
    ['/api/v1/cases/nonsense', 'cross-origin', '*'],
    ['/openapi.json', 'cross-origin', '*'],
    ['/for-agents.md', 'cross-origin', '*'],
  ];
  for (const [path, policy, origin] of cases) {
    const { headers } = await service.call('GET', path, { headers: { authorization } });
    t.equal(headers.get('cross-origin-resource-policy'), policy, path);
    t.equal(headers.get('access-control-allow-origin'), origin, path);
  }
});
