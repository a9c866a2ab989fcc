import t from 'tap';
import { faultReply } from '../../services/protocols/a2a/fault.ts';

const answered = (code: Parameters<typeof faultReply>[1]['code'], details: object = {}) =>
  faultReply(1, { code, details: { ...details }, headers: {} }, 'x');

t.test('what was withdrawn or erased is told as what is not there', async (t) => {
  t.match(answered('gone'), { status: 200, body: { error: { code: -32044 } } });
});

t.test('metadata are strings alone', async (t) => {
  const { body } = answered('state_conflict', { current_version: 3, decided_by: { id: 'x' } });
  const { data } = (body as { error: { data: { metadata: object }[] } }).error;
  t.same(data.at(-1)?.metadata, { http_status: '409', request_id: 'x', current_version: '3' });
});

t.test('a request that did not arrive in time is the fault of its caller', async (t) => {
  t.match(answered('request_timeout'), { status: 408, body: { error: { code: -32600 } } });
});
