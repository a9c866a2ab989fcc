import t from 'tap';
import { startService } from '../harness/service.ts';

t.test('where A2A is off there is neither the endpoint nor the card', async (t) => {
  const service = await startService(t, { A2A_ENABLED: 'false' });
  for (const method of ['POST', 'GET'])
    t.equal((await service.call(method, '/a2a')).status, 404, method);
  t.equal((await service.call('GET', '/.well-known/agent-card.json')).status, 404);
  const { body } = await service.call('GET', '/api/v1/discovery');
  const a2a = body.capabilities.find(({ id }: { id: string }) => id === 'a2a');
  t.equal(a2a.state, 'disabled');
});
