import t from 'tap';
import { startService } from '../../support/service.ts';

t.test('answers discovery and status as configured and refuses a query', async (t) => {
  const service = await startService(t, { GUESTBOOK_OPEN: 'false' });
  const discovery = await service.call('GET', '/api/v1/discovery');
  t.equal(discovery.body.schema, 'service.discovery.v1');
  t.equal(discovery.body.origin, service.baseUrl);
  const states = Object.fromEntries(
    discovery.body.capabilities.map(({ id, state }: { id: string; state: string }) => [id, state]),
  );
  t.equal(states['guestbook.submit'], 'disabled');
  const status = await service.call('GET', '/api/v1/status');
  t.same(status.body, {
    schema: 'service.status.v1',
    service: 'responding',
    storage: 'not_checked',
    admission: { membership: true, notes: false },
    collaboration: 'planned',
    inference_required: false,
  });
  t.equal((await service.call('GET', '/api/v1/status?a=1')).body.status, 'query_not_allowed');
  const post = await service.call('POST', '/api/v1/status', { body: {} });
  t.equal(post.status, 405);
  t.equal(post.headers.get('allow'), 'GET, HEAD');
  t.equal((await service.call('GET', '/nothing')).body.status, 'not_found');
  t.equal((await service.call('GET', '/livez')).status, 200);
  t.equal((await service.call('GET', '/readyz')).status, 200);
});
