import t from 'tap';
import { faultReply } from '../services/a2a/fault.ts';

t.test('a request that did not arrive in time is the fault of its caller', async (t) => {
  const reply = faultReply(1, { code: 'request_timeout', details: {}, headers: {} }, 'x');
  t.match(reply, { status: 408, body: { error: { code: -32600 } } });
});
