import t from 'tap';
import { startService } from '../../support/service.ts';

t.test('where A2A is off there is neither the endpoint nor the card', async (t) => {
  const service = await startService(t, { A2A_ENABLED: 'false' });
  for (const method of ['POST', 'GET'])
    for (const path of ['/a2a', '/a2a/'])
      t.equal((await service.call(method, path)).status, 404, `${method} ${path}`);
  t.equal((await service.call('GET', '/.well-known/agent-card.json')).status, 404);
  const { body } = await service.call('GET', '/api/v1/discovery');
  for (const capability of ['a2a', 'a2a.card']) {
    const told = body.capabilities.find(({ id }: { id: string }) => id === capability);
    t.equal(told?.state, 'disabled', capability);
    t.notOk(told?.contract, 'the document has no row of it');
  }
  t.notOk(body.interfaces.a2a || body.interfaces.agent_card);
  const { text } = await service.call('GET', '/for-agents.md');
  t.notMatch(text, /a2a|agent-card/i);
  t.match(text, /^- MCP: /m, 'the other door is still there');
  t.match(text, /^\| `POST \/api\/guestbook`/m);
});
