import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import t from 'tap';
import { answered, asking, callA2a } from '../../../harness/a2a.ts';
import { newAgent } from '../../../harness/agent.ts';
import { newCase } from '../../../harness/cases.ts';
import { startService } from '../../support/service.ts';

t.test('stores one write and one receipt, whether it arrives over HTTP or A2A', async (t) => {
  const service = await startService(t);
  const agent = await newAgent(service);
  const mcp = new Client({ name: 'test', version: '1' });
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/mcp`)));
  t.teardown(() => mcp.close());
  const overHttp = (key: string) =>
    agent.call('POST', '/api/v1/cases', newCase(), { 'idempotency-key': key });
  const overA2a = async (key: string) =>
    answered(await callA2a(service, agent, asking('case.create', newCase(), key)));

  for (const first of ['http', 'a2a']) {
    const key = randomUUID();
    const created = first === 'http' ? (await overHttp(key)).body : (await overA2a(key)).result;
    const retried = await overHttp(key);
    t.equal(retried.headers.get('idempotency-replayed'), 'true', `first over ${first}`);
    t.same(retried.body, created);
    const crossed = await overA2a(key);
    t.match(crossed, { status: 201, replayed: true, receipt: created.receipt });
    t.same(crossed.result, created);

    const { id } = created.case;
    const read = await service.call('GET', `/api/v1/cases/${id}`);
    const answer = await callA2a(service, agent, asking('case.read', { case_id: id }));
    t.same(answered(answer).result, read.body, 'A2A reads what HTTP reads');
    const resource = await mcp.readResource({ uri: `service://cases/${id}` });
    const [content] = resource.contents as { text: string }[];
    t.same(JSON.parse(content?.text ?? ''), read.body, 'MCP returns the same as a resource');
    const tool = await mcp.callTool({ name: 'get_case', arguments: { id } });
    t.same(
      (tool.structuredContent as { case: unknown }).case,
      read.body.case,
      'MCP returns the same from a tool',
    );
  }
  const { cases } = (await service.call('GET', '/api/v1/cases')).body;
  t.equal(cases.length, 2, 'two cases were created');
});
