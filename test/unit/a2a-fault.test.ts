import t from 'tap';
import { faultReply } from '../../services/protocols/a2a/fault.ts';

const createReply = (code: Parameters<typeof faultReply>[1]['code'], details: object = {}) =>
  faultReply(1, { code, details: { ...details }, headers: {} }, 'x');

t.test('answers a withdrawn or erased record like a missing one', async (t) => {
  t.match(createReply('gone'), { status: 200, body: { error: { code: -32044 } } });
});

t.test('includes only strings in the metadata', async (t) => {
  const { body } = createReply('state_conflict', { current_version: 3, decided_by: { id: 'x' } });
  const { data } = (body as { error: { data: { metadata: object }[] } }).error;
  t.same(data.at(-1)?.metadata, { http_status: '409', request_id: 'x', current_version: '3' });
});

t.test('reports a request timeout as a fault of the caller', async (t) => {
  t.match(createReply('request_timeout'), { status: 408, body: { error: { code: -32600 } } });
});
