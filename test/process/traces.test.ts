import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { createApi } from '../../harness/api.ts';
import { freePort } from '../../harness/free-port.ts';
import { submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';
import { HOSTILE_TRACEPARENTS } from '../support/hostile-traceparents.ts';
import { startProcess } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { until } from '../support/svc.ts';

t.setTimeout(300_000);

const EXAMPLE = join(import.meta.dirname, '../../examples/opentelemetry');
const installed = existsSync(join(EXAMPLE, 'node_modules'))
  ? {}
  : { skip: 'npm ci --prefix examples/opentelemetry installs the SDK' };

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code: number; message?: string };
  links?: { traceId: string; spanId: string }[];
  attributes: { key: string; value: Record<string, unknown> }[];
  events: unknown[];
}

interface OtlpRequest {
  resourceSpans: {
    resource: Pick<OtlpSpan, 'attributes'>;
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

interface Sent extends OtlpSpan {
  service: unknown;
  values: Record<string, unknown>;
}

const valuesOf = (attributes: OtlpSpan['attributes']) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Starts web and worker with the example's SDK, which sends to a collector in this process. */
async function startTraced(t: Test) {
  const collector = await startReceiver(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const { url, pool } = await testDatabase(t);
  const port = await freePort();
  const serverKeys = `1:${randomBytes(32).toString('hex')}`;
  const env = (name: string) => ({
    PORT: port,
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: url,
    SERVER_KEYS: serverKeys,
    NODE_OPTIONS: `--import ${pathToFileURL(join(EXAMPLE, 'otel.mjs'))}`,
    OTEL_SERVICE_NAME: name,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const web = await startProcess(t, 'web', ['ignore', 'ignore', 'inherit'], env('service-web'));
  const worker = await startProcess(t, 'worker', ['ignore', 'ignore', 'inherit'], env('worker'));
  await Promise.all([web.untilServes(), worker.untilServes()]);

  const jobsThat = async (state: string) =>
    (await pool.query(`SELECT FROM pgboss.job WHERE name = 'screen-note' AND state = $1`, [state]))
      .rowCount;

  /** Ends both processes, and returns all spans that they sent. */
  async function end(): Promise<Sent[]> {
    for (const { child, end } of [web, worker]) {
      child.kill('SIGTERM');
      t.same(await end(), [0, null]);
    }
    return collector.calls.flatMap(({ path, body }) => {
      t.equal(path, '/v1/traces');
      return (JSON.parse(body) as OtlpRequest).resourceSpans.flatMap(({ resource, scopeSpans }) => {
        const service = valuesOf(resource.attributes)['service.name'];
        return scopeSpans
          .flatMap(({ spans }) => spans)
          .map((span) => ({ ...span, service, values: valuesOf(span.attributes) }));
      });
    });
  }

  return { api: createApi(web.base), pool, jobsThat, end, collector };
}

t.test('shows request, transaction, job and screening in one trace', installed, async (t) => {
  const { api, jobsThat, end, collector } = await startTraced(t);
  const member = await signedIn(api);
  const traceId = randomBytes(16).toString('hex');
  const caller = randomBytes(8).toString('hex');
  const traced = {
    call: (method: string, path: string, options: object) =>
      api.call(method, path, {
        ...options,
        headers: {
          traceparent: `00-${traceId}-${caller}-01`,
          tracestate: 'vendor=of-a-stranger',
          baggage: 'secret=of-a-stranger',
        },
      }),
  };
  const note = await submitAs(traced as typeof api, member, { message: 'wholly-unlikely-words' });
  await until(async () => (await jobsThat('completed')) === 1);
  const unknown = await api.call('GET', `/nothing/${randomUUID()}`);
  await api.call('PROPFIND', '/guestbook');
  await api.call('GET', '/livez');
  const spans = await end();

  const trace = spans.filter((span) => span.traceId === traceId);
  const [request] = trace.filter(({ parentSpanId }) => parentSpanId === caller);
  t.match(request, {
    name: 'POST /api/guestbook',
    kind: 2,
    service: 'service-web',
    values: {
      'http.request.method': 'POST',
      'http.route': '/api/guestbook',
      'http.response.status_code': 202,
      'url.scheme': 'http',
    },
  });
  const below = (parent: Sent | undefined, name: string) =>
    trace.find((span) => span.name === name && span.parentSpanId === parent?.spanId);
  const transaction = below(request, 'transaction');
  t.match(transaction, { kind: 3, values: { 'db.system.name': 'postgresql' } });
  const job = below(transaction, 'process screen-note');
  t.match(job, {
    kind: 5,
    service: 'worker',
    values: { 'messaging.system': 'pg-boss', 'messaging.destination.name': 'screen-note' },
  });
  const screening = below(job, 'screen note');
  t.match(screening, { values: { 'service.note.id': note.id } });
  t.ok(below(screening, 'transaction'), 'the findings are recorded in the same trace');

  const named = (name: string) => spans.filter((span) => span.name === name);
  t.match(named('GET'), [{ values: { 'http.response.status_code': 404 } }]);
  t.notOk(named('GET')[0]?.parentSpanId, 'a request without a traceparent begins a trace');
  const requestId = unknown.headers.get('x-request-id') ?? '';
  t.ok(JSON.stringify(named('GET')[0]?.values).includes(requestId));
  t.match(named('HTTP /guestbook'), [{ values: { 'http.request.method': '_OTHER' } }]);
  t.same(
    spans.filter(({ values }) => String(values['http.route']).match(/livez|readyz|metrics/)),
    [],
    'probes have no span',
  );
  t.same([...new Set(spans.map(({ status }) => status.code))], [0]);

  const sent = collector.calls.map(({ body }) => body).join();
  const { id, handle, sign_in_key, recovery_key, cookie } = member;
  const secrets = [
    id,
    handle,
    sign_in_key,
    recovery_key,
    cookie,
    'unlikely-words',
    'of-a-stranger',
  ];
  for (const secret of secrets) t.notOk(sent.includes(secret), `no span has ${secret}`);
});

t.test(
  'begins a new trace at a job of several requests, with links to them',
  installed,
  async (t) => {
    const { api, pool, jobsThat, end } = await startTraced(t);
    const notes = new Map<string, string>();
    const submitTraced = async () => {
      const traceId = randomBytes(16).toString('hex');
      const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
      const body = { id: randomUUID() as string, message: 'Hello' };
      const { status, text } = await api.call('POST', '/api/guestbook', { headers, body });
      t.equal(status, 202, text);
      notes.set(body.id, traceId);
    };
    const mergedJobs = async () =>
      (
        await pool.query<{ id: string; note_ids: string[] }>(
          `SELECT id, data->'note_ids' AS note_ids FROM pgboss.job
         WHERE name = 'screen-note' AND jsonb_array_length(data->'note_ids') > 1`,
        )
      ).rows;
    // Commands that arrive together usually share a commit, whose jobs are merged.
    for (let turn = 0; turn === 0 || ((await mergedJobs()).length === 0 && turn < 8); turn++)
      await Promise.all(Array.from({ length: 4 }, submitTraced));
    await until(async () => {
      const { rows } = await pool.query('SELECT count(*)::int FROM note_screenings');
      return rows[0].count === notes.size;
    });
    await until(
      async () => (await jobsThat('completed')) !== 0 && (await jobsThat('active')) === 0,
    );
    const merged = await mergedJobs();
    const spans = await end();

    t.ok(merged.length > 0, 'several notes share a job');
    for (const { id, note_ids } of merged) {
      const traces = note_ids.map((note) => notes.get(note));
      const [job] = spans.filter(({ values }) => values['messaging.message.id'] === id);
      t.equal(job?.parentSpanId ?? '', '', 'the job has no parent');
      t.notOk(traces.includes(job?.traceId), 'and a trace apart from those of the requests');
      t.same(
        job?.links?.map(({ traceId }) => traceId).sort(),
        traces.sort(),
        'with a link to each',
      );
      for (const { traceId, spanId } of job?.links ?? []) {
        const [cause] = spans.filter((span) => span.spanId === spanId);
        t.match(
          cause,
          { traceId, service: 'service-web' },
          'a link leads to a span of the request',
        );
      }
      const screenings = spans.filter(({ parentSpanId }) => parentSpanId === job?.spanId);
      t.same(
        screenings
          .map(({ values }) => values['service.note.id'])
          .filter(Boolean)
          .sort(),
        note_ids.sort(),
        'the screening of each note is below the job',
      );
    }
  },
);

t.test('begins a new trace at a malformed traceparent', installed, async (t) => {
  const { api, end, collector } = await startTraced(t);
  for (const traceparent of HOSTILE_TRACEPARENTS) {
    const plain = await api.call('GET', '/api/guestbook');
    const hostile = await api.call('GET', '/api/guestbook', { headers: { traceparent } });
    t.same([hostile.status, hostile.text], [plain.status, plain.text]);
  }
  const requests = (await end()).filter(({ name }) => name === 'GET /api/guestbook');
  t.equal(requests.length, 2 * HOSTILE_TRACEPARENTS.length);
  t.equal(new Set(requests.map(({ traceId }) => traceId)).size, requests.length);
  t.same(
    requests.filter(({ parentSpanId }) => parentSpanId),
    [],
  );
  const sent = collector.calls.map(({ body }) => body).join();
  t.notMatch(sent, /garbage|DROP TABLE|4bf92f3577b34da6/i);
});

t.test('marks a job that fails, without the message of its error', installed, async (t) => {
  const { api, pool, end, collector, jobsThat } = await startTraced(t);
  await pool.query('ALTER TABLE note_screenings RENAME TO screenings_elsewhere');
  const body = { id: randomUUID(), name: 'Ada', message: 'Hello' };
  t.equal((await api.call('POST', '/api/guestbook', { body })).status, 202);
  await until(async () => (await jobsThat('retry')) === 1);
  await pool.query('ALTER TABLE screenings_elsewhere RENAME TO note_screenings');
  const failed = (await end()).filter(({ status }) => status.code === 2);
  for (const name of ['process screen-note', 'screen note']) {
    const [span] = failed.filter((one) => one.name === name);
    t.match(span, { values: { 'error.type': '42P01' }, events: [] }, name);
  }
  t.notMatch(collector.calls.map(({ body }) => body).join(), /note_screenings/);
});
