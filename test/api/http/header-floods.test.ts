import t from 'tap';
import { addModerator } from '../../../harness/moderation.ts';
import { startService } from '../../support/service.ts';

const LENGTH = 7000;
/** A parser with quadratic time takes hundreds of times as long. */
const MAX_TIMES = 25;
const UNITS = [
  ' ',
  ',',
  ';',
  ';q=0.',
  '"',
  '\\"',
  '(',
  '=',
  '1',
  '-',
  '.',
  '%',
  'application/json,',
];

/** Headers that handlers and protocols read, each on a route that reads it. */
const READ_HEADERS: readonly { header: string; method: string; path: string; body?: unknown }[] = [
  { header: 'accept', method: 'GET', path: '/api/moderation/audit' },
  { header: 'expected-moderator', method: 'GET', path: '/api/moderation/me' },
  { header: 'last-event-id', method: 'GET', path: '/api/moderation/stream' },
  { header: 'a2a-version', method: 'POST', path: '/a2a', body: {} },
  { header: 'accept', method: 'POST', path: '/mcp', body: {} },
  { header: 'mcp-protocol-version', method: 'POST', path: '/mcp', body: {} },
  { header: 'mcp-method', method: 'POST', path: '/mcp', body: {} },
  { header: 'mcp-name', method: 'POST', path: '/mcp', body: {} },
  { header: 'mcp-session-id', method: 'POST', path: '/mcp', body: {} },
];

t.test('answers a long header in a small multiple of the time for a short one', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann', 'auditor');
  /** The least processor time of several answers; more of them while it is above `limit`. */
  async function leastTime(
    { header, method, path, body }: (typeof READ_HEADERS)[number],
    text: string,
    limit = Infinity,
  ) {
    let least = Infinity;
    for (let turn = 0; turn < 3 || (turn < 20 && least > limit); turn++) {
      const started = process.cpuUsage();
      const answer = await fetch(service.baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${ann.token}`,
          'content-type': 'application/json',
          [header]: text,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // A stream does not end on its own.
      if (path.endsWith('/stream')) await answer.body?.cancel();
      else await answer.arrayBuffer();
      const { user, system } = process.cpuUsage(started);
      least = Math.min(least, user + system);
      t.ok(answer.status < 500, `${method} ${path}, ${header}: ${answer.status}`);
    }
    return least;
  }
  for (const read of READ_HEADERS) {
    const plain = await leastTime(read, 'a');
    for (const unit of UNITS) {
      const text = `x${unit.repeat(Math.floor(LENGTH / unit.length))}x`;
      const times = (await leastTime(read, text, MAX_TIMES * plain)) / plain;
      t.ok(
        times < MAX_TIMES,
        `${read.path}, ${read.header} of ${JSON.stringify(unit)}: ${times.toFixed(1)} times`,
      );
    }
  }
});
