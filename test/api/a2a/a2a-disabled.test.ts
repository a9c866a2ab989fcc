import t from 'tap';
import { startService } from '../../support/service.ts';

t.test('serves neither the A2A endpoint nor the agent card when A2A is disabled', async (t) => {
  const service = await startService(t, { A2A_ENABLED: 'false' });
  for (const method of ['POST', 'GET'])
    for (const path of ['/a2a', '/a2a/'])
      t.equal((await service.call(method, path)).status, 404, `${method} ${path}`);
  t.equal((await service.call('GET', '/.well-known/agent-card.json')).status, 404);
  const { body } = await service.call('GET', '/api/v1/discovery');
  for (const capability of ['a2a', 'a2a.card']) {
    const listed = body.capabilities.find(({ id }: { id: string }) => id === capability);
    t.equal(listed?.state, 'disabled', capability);
    t.notOk(listed?.contract, 'a disabled capability names no contract');
  }
  t.notOk(body.interfaces.a2a || body.interfaces.agent_card);
  const { text } = await service.call('GET', '/for-agents.md');
  t.notMatch(text, /a2a|agent-card/i);
  t.match(text, /^- MCP: /m, 'MCP is still listed');
  t.match(text, /^\| `POST \/api\/guestbook`/m);
});
