import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { freePort } from '../../../harness/free-port.ts';
import { createHttpServer } from '../../../platform/http/server.ts';
import { processMetrics, requestMetrics } from '../../../platform/telemetry/metrics.ts';
import { serveMetrics } from '../../../platform/telemetry/metrics-server.ts';
import { CONTRACT_VERSION, RELEASE } from '../../../platform/version.ts';
import { createApp } from '../../../services/app.ts';
import { startService } from '../../support/service.ts';

/** Starts a service and its metrics on two ports. */
async function startWithMetrics(t: Test) {
  const { core } = await startService(t);
  const logger = pino({ level: 'silent' });
  const registry = processMetrics(core.pools);
  const { app, stop } = await createApp(core, logger, requestMetrics(registry));
  const [port, metricsPort] = [Number(await freePort()), Number(await freePort())];
  const server = createHttpServer((req, res) => void app(req, res));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = await serveMetrics(registry, { host: '127.0.0.1', port: metricsPort }, logger);
  t.teardown(() => {
    stop();
    server.close();
    server.closeAllConnections();
    close();
  });
  return { base: `http://127.0.0.1:${port}`, metrics: `http://127.0.0.1:${metricsPort}` };
}

t.test('counts requests by route template and uses no label from a caller', async (t) => {
  const { base, metrics } = await startWithMetrics(t);
  const id = randomUUID();
  await fetch(`${base}/api/guestbook`);
  await fetch(`${base}/api/guestbook?experience=observatory`);
  await fetch(`${base}/api/guestbook?parent_id=${id}`);
  await fetch(`${base}/nothing/${id}`);
  await fetch(`${base}/nothing/${id}`, { method: 'PROPFIND' });
  const answer = await fetch(`${metrics}/metrics`);
  t.equal(answer.status, 200);
  t.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  const readCount = (labels: string) =>
    new RegExp(`^http_request_duration_seconds_count\\{${labels}\\} (\\d+)$`, 'm').exec(text)?.[1];
  t.equal(readCount('method="GET",route="/api/guestbook",status="200"'), '2');
  t.equal(readCount('method="GET",route="/api/guestbook",status="404"'), '1');
  t.equal(readCount('method="GET",route="-",status="404"'), '1');
  t.equal(readCount('method="other",route="-",status="404"'), '1');
  t.match(text, /^problems_total\{code="reply_target_unavailable"\} 1$/m);
  t.match(text, /^http_requests_in_flight 0$/m);
  t.match(text, /^database_connections\{pool="write",state="open"\} \d+$/m);
  t.notMatch(text, 'pool="read"', 'a shared pool is reported once');
  t.match(text, /^nodejs_eventloop_lag_seconds /m);
  t.notMatch(text, id);
});

t.test('counts problems by error code', async (t) => {
  const { base, metrics } = await startWithMetrics(t);
  await fetch(`${base}/api/guestbook`);
  await fetch(`${base}/api/guestbook`, { method: 'PUT' });
  for (const method of ['GET', 'HEAD']) await fetch(`${base}/api/v1/me`, { method });
  const text = await (await fetch(`${metrics}/metrics`)).text();
  t.same(text.match(/^problems_total.*$/gm), [
    'problems_total{code="outcome_unconfirmed"} 0',
    'problems_total{code="method_not_allowed"} 1',
    'problems_total{code="credential_required"} 2',
  ]);
});

t.test('shows the contract, the release and the Node that run', async (t) => {
  const { metrics } = await startWithMetrics(t);
  const text = await (await fetch(`${metrics}/metrics`)).text();
  const labels = `version="${CONTRACT_VERSION}",release="${RELEASE}",node="${process.versions.node}"`;
  t.match(text, `\nbuild_info{${labels}} 1\n`);
});

t.test('answers only GET /metrics on the metrics port', async (t) => {
  const { base, metrics } = await startWithMetrics(t);
  t.equal((await fetch(`${base}/metrics`)).status, 404);
  t.equal((await fetch(`${metrics}/`)).status, 404);
  const posted = await fetch(`${metrics}/metrics`, { method: 'POST' });
  t.equal(posted.status, 405);
  t.equal(posted.headers.get('allow'), 'GET, HEAD');
});

t.test('logs a taken metrics port and keeps running', async (t) => {
  const port = Number(await freePort());
  const other = createServer((_req, res) => res.end('another'));
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  t.teardown(() => other.close());
  const logged: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) });
  const close = await serveMetrics(processMetrics({}), { host: '127.0.0.1', port }, logger);
  close();
  t.equal(logged.length, 1);
  // The variable for a worker's port differs from that for a web process.
  t.match(logged[0], /metrics are not served: is their port taken/);
  t.match(logged[0], new RegExp(`"port":${port}.*EADDRINUSE`));
});
