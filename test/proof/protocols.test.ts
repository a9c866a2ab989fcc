import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { newCase } from '../../harness/cases.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { brief } from '../../harness/packets.ts';
import { nothing, type Request, startCall } from '../../proof/history.ts';
import { asMessage, fromMessage, fromTool, noteTool } from '../../proof/protocols.ts';
import { startService } from '../support/service.ts';

t.test('gives a write the same response over A2A and HTTP', async (t) => {
  const service = await startService(t);
  const { authorization } = await newAgent(service);
  const call = startCall(
    [service.baseUrl],
    () => 0,
    () => undefined,
  );
  const both = async (operation: string, path: string, body: object) => {
    const key = randomUUID();
    const request: Request = { method: 'POST', path, body, headers: { authorization } };
    const message = asMessage(operation, key, request);
    if (!message) throw new Error(operation);
    const answers = [
      fromMessage(await call(message)),
      await call({ ...request, headers: { authorization, 'idempotency-key': key } }),
    ].map((answer) => [answer?.status, answer?.body.error?.code ?? answer?.body]);
    t.same(answers[0], answers[1], operation);
    return answers[0] as [number, Record<string, { id: string }>];
  };
  const [created, opened] = await both('case.create', '/api/v1/cases', newCase());
  t.equal(created, 201);
  const at = `/api/v1/cases/${opened.case?.id}`;
  t.equal((await both('case.withdraw', `${at}/withdraw`, { expected_version: 1 }))[0], 200);
  t.same(await both('case.claim', `${at}/claim`, { expected_version: 1 }), [409, 'state_conflict']);
  const [, published] = await both('artifact.publish', '/api/v1/artifacts', brief());
  const artifact = `/api/v1/artifacts/${published.artifact?.id}`;
  t.equal((await both('artifact.withdraw', `${artifact}/withdraw`, {}))[0], 200);
  t.equal(asMessage('account.delete', randomUUID(), { method: 'POST', path: '/' }), undefined);
});

t.test('keeps unparsable responses unknown and unavailable storage unchanged', (t) => {
  t.equal(fromMessage(undefined), undefined);
  t.equal(fromTool(undefined), undefined);
  const away = { reason: 'storage_unavailable', metadata: { http_status: '503' } };
  const body = { error: { code: -32053, data: [away] } };
  t.ok(nothing(fromMessage({ status: 503, body, cookie: undefined })));
  t.end();
});

t.test("shows the guestbook's notes by the MCP tool", async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id } = await submit(service, { message: 'Hello' });
  await decide(ann, id, 'approve');
  const call = startCall(
    [service.baseUrl],
    () => 0,
    () => undefined,
  );
  const read = await service.call('GET', '/api/guestbook');
  t.same(fromTool(await call(noteTool(undefined)))?.body.entries, read.body.entries);
  t.same(fromTool(await call(noteTool(id)))?.body.entries, []);
  t.equal(fromTool(await call(noteTool(randomUUID()))), undefined, 'a refusal shows nothing');
});
