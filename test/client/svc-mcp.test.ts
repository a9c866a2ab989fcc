import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startService } from '../support/service.ts';
import { countEvents, SVC, svcIn, svcOfMember, until } from '../support/svc.ts';
import { ACCEPT, type Answer, bridge, REVISIONS, type Revision } from '../support/svc-mcp.ts';

// `svc mcp` as a real process, with official clients of MCP and the real service.

const proxy = await startFaultProxy(t, () => service.baseUrl);
const service = await startService(t, { BASE_URL: proxy.url });
const { path, remove } = temporaryFolder('svc-mcp');
t.teardown(remove);

const BRIEF = { title: 'What was found', summary: 'Two gaps', body: 'Rows 3 and 9\nare missing' };

let made = 0;
function newMember() {
  made += 1;
  return svcOfMember(t, join(path, `home-${made}`), proxy.url, `bridged_${made}`);
}

for (const revision of REVISIONS)
  t.test(`writes with the consent of the person, to the end of a case (${revision})`, (t) =>
    finishCase(t, revision),
  );

async function finishCase(t: Test, revision: Revision) {
  const [author, claimant] = [await newMember(), await newMember()];
  const ada = await bridge(t, author.home, ACCEPT, { revision });
  const bob = await bridge(t, claimant.home, ACCEPT, { revision });
  const { tools } = await ada.client.listTools();
  t.equal(tools.length, 20);
  for (const { name, annotations, inputSchema } of tools) {
    t.equal(inputSchema.additionalProperties, false, name);
    t.equal(typeof annotations?.destructiveHint, 'boolean', name);
  }
  t.match(await ada.call('whoami'), { isError: false, member: { handle: String } });
  const published = await bob.call('publish_packet', BRIEF);
  t.match(published, { isError: false, artifact: { id: String } });
  const [question = ''] = bob.questions;
  t.match(question, `at ${proxy.url}?`);
  t.match(question, 'Rows 3 and 9\n        are missing');
  const opened = await ada.call('open_case', {
    title: 'T',
    summary: 'S',
    objective: 'O',
    acceptance_criteria: ['A list'],
  });
  const case_id = opened.case.id;
  t.match(await bob.call('claim_case', { case_id }), {
    isError: false,
    case: { state: 'claimed' },
  });
  const packet_id = published.artifact.id;
  t.match(await bob.call('submit_case', { case_id, summary: 'Done', packet_id }), {
    isError: false,
  });
  t.match(await ada.call('note_on_case', { case_id, message: 'Thanks' }), { isError: false });
  const review = { case_id, decision: 'accept', comment: 'Good' };
  t.match(await ada.call('review_case', review), { case: { state: 'accepted' } });
  t.match(await ada.call('review_case', review), { isError: true, code: 'state_conflict' });
  t.match(await ada.call('get_case', { case_id }), { case: { state: 'accepted' } });
  t.match(await ada.call('my_cases', { role: 'author' }), { cases: [{ id: case_id }] });
  const first = await ada.call('updates');
  t.ok(first.events.length > 0);
  t.same((await ada.call('updates')).events, []);
  t.match(await ada.call('updates', { cursor: first.cursor }), { events: [] });
  t.equal(ada.err() + bob.err(), '');
}

for (const revision of REVISIONS)
  t.test(`sends nothing without consent (${revision})`, (t) => refuse(t, revision));

async function refuse(t: Test, revision: Revision) {
  const svc = await newMember();
  const before = await countEvents(service, 'ArtifactPublished');
  for (const [answer, code] of [
    [{ action: 'decline' }, 'declined'],
    [{ action: 'cancel' }, 'cancelled'],
    [{ action: 'accept', content: { send: false } }, 'declined'],
    [undefined, 'consent_unavailable'],
  ] as [Answer | undefined, string][]) {
    const { call } = await bridge(t, svc.home, answer, { revision });
    const refused = await call('publish_packet', BRIEF);
    t.match(refused, { isError: true, code, message: /Nothing was sent/ });
  }
  t.equal(await countEvents(service, 'ArtifactPublished'), before);
  const { call } = await bridge(t, svc.home, undefined, { revision, flags: ['--yes'] });
  t.match(await call('publish_packet', BRIEF), { isError: false });
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
}

for (const revision of REVISIONS)
  t.test(`publishes once where it is killed and started again (${revision})`, (t) =>
    publishOnce(t, revision),
  );

async function publishOnce(t: Test, revision: Revision) {
  const svc = await newMember();
  const before = await countEvents(service, 'ArtifactPublished');
  const first = await bridge(t, svc.home, ACCEPT, { revision });
  const stalled = proxy.stallResponseTo('POST /api/v1/artifacts');
  const lost = t.rejects(first.call('publish_packet', BRIEF));
  await stalled;
  process.kill(first.pid(), 'SIGKILL');
  await lost;
  const again = await bridge(t, svc.home, { action: 'decline' }, { revision });
  const reply = await again.call('publish_packet', BRIEF);
  t.match(reply, { isError: false, finished_before: true, artifact: { id: String } });
  t.same(again.questions, [], 'the person had consented before');
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
  t.match(await again.call('publish_packet', BRIEF), { code: 'declined' });
}

/** A bridge whose host has cancelled a call after the service had published the packet. */
async function cancelledBridge(t: Test) {
  const svc = await newMember();
  const before = await countEvents(service, 'ArtifactPublished');
  const first = await bridge(t, svc.home, ACCEPT);
  const controller = new AbortController();
  const stalled = proxy.stallResponseTo('POST /api/v1/artifacts');
  const lost = t.rejects(first.call('publish_packet', BRIEF, { signal: controller.signal }));
  await stalled;
  controller.abort();
  await lost;
  return { svc, before, first };
}

t.test('publishes once where the host gives up and asks again', async (t) => {
  const { before, first } = await cancelledBridge(t);
  const reply = await first.call('publish_packet', BRIEF);
  t.match(reply, { isError: false, artifact: { id: String } }, 'the same write');
  t.equal(first.questions.length, 1);
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
  t.match(await first.call('publish_packet', BRIEF), { isError: false }, 'another write');
  t.equal(first.questions.length, 2);
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 2);
});

t.test('publishes once where it is killed before the host has the answer', async (t) => {
  const { svc, before, first } = await cancelledBridge(t);
  await until(() => readdirSync(svc.home).some((name) => /^answered-.*\.json$/.test(name)));
  process.kill(first.pid(), 'SIGKILL');
  const again = await bridge(t, svc.home, { action: 'decline' });
  const reply = await again.call('publish_packet', BRIEF);
  t.match(reply, { isError: false, finished_before: true, artifact: { id: String } });
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
  t.match(await again.call('publish_packet', BRIEF), { code: 'declined' });
});

t.test('answers hostile input with errors, and goes on', async (t) => {
  const svc = await newMember();
  const { child, ended } = svc.start('mcp', '--yes');
  const call = (id: unknown, name: unknown, given?: unknown) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: given },
    });
  const lines = [
    '',
    'not JSON',
    '\u0000\u001b[2J\ufffd',
    '[]',
    'null',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '['.repeat(100_000),
    'x'.repeat(3_000_000),
    call(1, '__proto__'),
    call(2, 'get_case', { case_id: '../me' }),
    call(3, 'publish_packet', { ...BRIEF, title: 7 }),
    call(4, 'publish_packet', { ...BRIEF, more: true }),
    call(5, 'publish_packet', { ...BRIEF, title: `\u001b[2J\u0000${'x'.repeat(100_000)}` }),
    call(6, 'open_case', []),
    '{"jsonrpc":"2.0","id":7,"method":"no/such"}',
    '{"jsonrpc":"2.0","id":8,"result":{"action":"accept"}}',
    '{"jsonrpc":"2.0","id":9,"method":"ping"}',
  ];
  child.stdin.write(Buffer.from([0xff, 0xfe, 0x0a]));
  child.stdin.end(`${lines.join('\n')}\n`);
  const { code, out, err } = await ended;
  t.equal(code, 0, err);
  const answers = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const byId = (id: number) => answers.find((answer) => answer.id === id);
  t.equal(answers.filter(({ id, error }) => id === null && error).length, 8);
  t.match(byId(1), { error: { code: -32602 } });
  for (const id of [2, 3, 4, 6])
    t.match(byId(id), {
      result: { isError: true, structuredContent: { code: 'invalid_arguments' } },
    });
  t.match(byId(5), { result: { isError: true, structuredContent: { code: 'invalid_json' } } });
  t.match(byId(7), { error: { code: -32601 } });
  t.match(byId(9), { result: {} });
  const identity = JSON.parse(readFileSync(join(svc.home, 'identity.json'), 'utf8'));
  for (const secret of [identity.sign_in_key, identity.recovery_key])
    t.notOk((out + err).includes(secret));
});

t.test('takes an answer of the person once, and for the write that was asked about', async (t) => {
  const svc = await newMember();
  const { child, ended } = svc.start('mcp');
  const meta = (version: string) => ({
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  let id = 0;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what was answered
  const ask = async (method: string, params: object, version = '2026-07-28'): Promise<any> => {
    id += 1;
    const request = { jsonrpc: '2.0', id, method, params: { ...params, _meta: meta(version) } };
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value } = await answers.next();
    return JSON.parse(value ?? '');
  };
  const call = (given: object, more: object = {}) =>
    ask('tools/call', { name: 'publish_packet', arguments: given, ...more });
  t.match(await ask('server/discover', {}), {
    result: { supportedVersions: ['2026-07-28'], resultType: 'complete', cacheScope: 'private' },
  });
  t.match(await ask('server/discover', {}, '2099-01-01'), {
    error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2099-01-01' } },
  });
  for (const method of ['ping', 'subscriptions/listen'])
    t.match(await ask(method, {}), { error: { code: -32601 } });
  const before = await countEvents(service, 'ArtifactPublished');
  const { requestState } = (await call(BRIEF)).result;
  const inputResponses = { consent: ACCEPT };
  const asksAgain = { result: { resultType: 'input_required' } };
  t.match(await call({ ...BRIEF, body: 'Other' }, { requestState, inputResponses }), asksAgain);
  t.match(await call(BRIEF, { requestState: 'forged', inputResponses }), asksAgain);
  t.match(await call(BRIEF, { inputResponses }), asksAgain);
  t.equal(await countEvents(service, 'ArtifactPublished'), before);
  t.match(await call(BRIEF, { requestState, inputResponses }), {
    result: { resultType: 'complete', structuredContent: { artifact: { id: String } } },
  });
  t.match(await call(BRIEF, { requestState, inputResponses }), asksAgain);
  const asked = (await call(BRIEF)).result;
  t.match(await call(BRIEF, { requestState: asked.requestState, inputResponses: {} }), {
    result: { isError: true, structuredContent: { code: 'consent_unavailable' } },
  });
  t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
  child.stdin.end();
  t.equal((await ended).code, 0);
});

t.test('does not start without keys', async (t) => {
  t.match(await svcIn(t, join(path, 'none'), proxy.url)('mcp'), { code: 4, out: '' });
});

const python = process.env.FOREIGN_PYTHON;
t.test(
  "lets the Python SDK's client publish with consent",
  { skip: python ? false : 'FOREIGN_PYTHON is not set' },
  async (t) => {
    const script = join(import.meta.dirname, 'svc-mcp.py');
    for (const [mode, revision] of [
      ['legacy', '2025-11-25'],
      ['auto', '2026-07-28'],
    ] as const) {
      const svc = await newMember();
      const before = await countEvents(service, 'ArtifactPublished');
      const words = [script, process.execPath, SVC, svc.home, mode];
      const { stdout } = await promisify(execFile)(python ?? '', words);
      t.match(stdout, new RegExp(`^${revision}: asked 1, published [0-9a-f-]{36}$`, 'm'));
      t.equal(await countEvents(service, 'ArtifactPublished'), before + 1);
    }
  },
);
