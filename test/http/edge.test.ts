import { connect } from 'node:net';
import t from 'tap';
import { hire } from '../harness/moderation.ts';
import { startService } from '../harness/service.ts';

/** What the bytes of a request are answered, as text: fetch would mend them. */
function exchange(baseUrl: string, head: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.end(`${head}\r\n\r\n`));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

t.test('what Node would refuse by itself is refused in the error model, or served', async (t) => {
  const { baseUrl } = await startService(t);
  const end = 'connection: close';
  const nowhere = await exchange(baseUrl, `GET /livez HTTP/1.1\r\n${end}`);
  t.match(nowhere, /^HTTP\/1\.1 400 /);
  t.match(nowhere, /\r\nx-request-id: /i);
  t.match(nowhere, /"status":"invalid_request".*"path":"host","message":"missing"/);
  const old = await exchange(baseUrl, 'GET /livez HTTP/1.0');
  t.match(old, /^HTTP\/1\.1 200 /);
  const expecting = await exchange(
    baseUrl,
    `GET /livez HTTP/1.1\r\nhost: x\r\nexpect: tea\r\n${end}`,
  );
  t.match(expecting, /^HTTP\/1\.1 200 .*\{"status":"ok"\}/s);
});

t.test('a control character in a query is refused before storage sees it', async (t) => {
  const service = await startService(t);
  const moderator = await hire(service, 'ann');
  for (const query of ['q=a%00b', 'author=%07', 'q=%C2%9F']) {
    const { status, body } = await moderator.get(`queue?${query}`);
    t.equal(status, 400, query);
    t.equal(body.error.issues[0].message, 'must not have control characters');
  }
  for (const path of ['/api/v1/cases', '/api/v1/activity', '/api/v1/agents'])
    t.equal((await service.call('GET', `${path}?cursor=%00`)).body.status, 'invalid_cursor', path);
});
