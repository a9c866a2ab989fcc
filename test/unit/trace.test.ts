import t from 'tap';
import { fromStored, toStored } from '../../platform/jobs/boss.ts';
import { formatTraceparent, parseTraceparent, traceIdOf } from '../../platform/telemetry/trace.ts';
import { HOSTILE_TRACEPARENTS } from '../support/hostile-traceparents.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

t.test('reads a traceparent, of a later version as well, and writes version 00', (t) => {
  for (const version of ['00', '01', 'fe']) {
    const parsed = parseTraceparent(`${version}-${TRACE}-${SPAN}-01`);
    t.same(parsed, { traceId: TRACE, spanId: SPAN, traceFlags: 1 });
    t.equal(parsed && formatTraceparent(parsed), `00-${TRACE}-${SPAN}-01`);
  }
  t.equal(traceIdOf({ traceparent: `00-${TRACE}-${SPAN}-00`, 'x-request-id': 'a-request' }), TRACE);
  t.end();
});

t.test('reads nothing from a malformed traceparent', (t) => {
  for (const traceparent of [...HOSTILE_TRACEPARENTS, undefined]) {
    t.equal(parseTraceparent(traceparent), undefined, traceparent?.slice(0, 80) ?? 'none');
    const headers = traceparent === undefined ? {} : { traceparent };
    t.equal(traceIdOf(headers), undefined);
    t.equal(traceIdOf({ ...headers, 'x-request-id': 'a-request' }), 'a-request');
  }
  t.end();
});

t.test('stores traces beside the data of a job, and gives ids for the log and spans', (t) => {
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  const job = { queue: 'q', data: { note_ids: [] }, traceIds: ['a-request', TRACE, traceparent] };
  t.same(fromStored(toStored(job)), {
    data: { note_ids: [] },
    traceIds: ['a-request', TRACE],
    causes: [{ traceId: TRACE, spanId: SPAN, traceFlags: 1 }],
  });
  t.same(fromStored(toStored({ queue: 'q', data: {} })), {
    data: {},
    traceIds: undefined,
    causes: [],
  });
  t.end();
});
