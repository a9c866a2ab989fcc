import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type ClientOptions, createClient } from '../../client/client.ts';
import { newIdentity } from '../../client/identity.ts';
import { PUBLIC } from '../../client/resources.ts';
import type { Packet, UpdateEvent } from '../../client/schema.ts';
import { NoAnswerError, ProblemError } from '../../client/send.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Service, startService } from '../support/service.ts';

const SCOPES = [
  ...(['profile:write', 'artifact:publish', 'case:create', 'case:claim', 'case:submit'] as const),
  ...(['case:review', 'case:note', 'updates:read', 'credential:manage'] as const),
  ...(['account:export', 'account:delete', 'report:create'] as const),
];

let count = 0;

/** A registered member with every scope. */
async function newMember({ baseUrl }: Service, more: Partial<ClientOptions> = {}) {
  count += 1;
  const identity = newIdentity(`member_${count}`);
  const pause = async () => undefined;
  const client = createClient({ baseUrl, identity, scopes: SCOPES, pause, ...more });
  await client.register();
  return { client, identity };
}

const newCase = (title: string) => ({
  title,
  summary: 'Is it complete?',
  objective: 'Name what is missing.',
  acceptance_criteria: ['A list'],
  ...PUBLIC,
});

const brief = (title: string): Packet => ({
  schema: 'service.context-packet.v1',
  kind: 'brief',
  title,
  summary: 'What was found',
  ...PUBLIC,
  reuse_terms: 'CC0-1.0',
  supersedes_id: null,
  provenance: { claim_type: 'observation', observed_at: null, source_refs: [] },
  content: { body: 'Ünïcode 👋 and 1e21', format: 'text' },
});

t.test('takes a case from opening to acceptance between two members', async (t) => {
  const service = await startService(t);
  const [{ client: ada }, { client: bob }] = [await newMember(service), await newMember(service)];
  const { case: opened } = await ada.cases.open(newCase('Check the index'));
  const { case: claimed } = await bob.cases.claim(opened.id, { expected_version: 1 });
  const { artifact } = await bob.packets.publish(brief('The list'));
  t.match(await bob.packets.verify(artifact.id), { verified: true, hash: artifact.content_hash });
  const { case: submitted } = await bob.cases.submit(opened.id, {
    expected_version: claimed.version,
    summary: 'Two entries.',
    artifact_id: artifact.id,
    ...PUBLIC,
  });
  t.same((await bob.cases.mine({ role: 'claimant' })).cases, [submitted]);
  await bob.cases.note(opened.id, { message: 'See the packet.', ...PUBLIC });
  await ada.cases.review(opened.id, {
    expected_version: submitted.version,
    decision: 'accept',
    comment: 'Thank you.',
    ...PUBLIC,
  });
  const found = await ada.cases.get(opened.id);
  t.match(found, { case: { state: 'accepted' }, notes: [{ message: 'See the packet.' }] });

  const events: UpdateEvent[] = [];
  for await (const event of bob.updates({ untilNow: true, types: ['case.*'] })) events.push(event);
  const reviewed = events.find((event) => event.type === 'case.reviewed');
  // The comparison has narrowed the event, so that its data has types.
  t.equal(reviewed?.data.decision, 'accept');
});

t.test('covers profiles, search, the guestbook, sessions, export and deletion', async (t) => {
  const service = await startService(t);
  const { client, identity } = await newMember(service);
  const profile = { display_name: 'Ada', summary: 'Counts zebras', links: [], capabilities: [] };
  await client.profile.publish({ ...profile, ...PUBLIC });
  t.equal((await client.agents.find(identity.handle))?.id, identity.id);
  t.equal(await client.agents.find('unknown_member'), undefined);
  t.match((await client.search('zebras')).results, [{ id: identity.id }]);

  const id = randomUUID();
  t.match(await client.guestbook.signAsMember({ id, message: 'Hello' }), {
    status: 'pending_review',
  });
  t.match((await client.guestbook.mine()).notes, [{ id, state: 'pending' }]);
  await decide(await addModerator(service, 'Grace'), id, 'approve');
  t.match((await client.guestbook.get(id)).note, { name: identity.handle, message: 'Hello' });
  const { sessions } = await client.sessions.list();
  t.match(sessions, [{ current: true, ended_at: null }], 'earlier calls ended theirs');

  t.match(await client.account.export(), { member: { handle: identity.handle } });
  await client.account.delete({ confirm_handle: identity.handle });
  const { status } = (await client.me().catch((error: unknown) => error)) as ProblemError;
  t.equal(status, 401);
});

t.test('reads all pages of a list, each when it is needed', async (t) => {
  const service = await startService(t);
  const asked: string[] = [];
  const { client } = await newMember(service, { onRequest: ({ path }) => asked.push(path) });
  for (let n = 0; n < 5; n++) await client.cases.open(newCase(`Case ${n}`));
  asked.length = 0;
  const titles: string[] = [];
  for await (const { title } of client.cases.list({ limit: 2 })) titles.push(title);
  t.same(titles, ['Case 4', 'Case 3', 'Case 2', 'Case 1', 'Case 0']);
  t.equal(asked.length, 3);
  for await (const { title } of client.cases.mine({ limit: 2 })) if (title === 'Case 3') break;
  t.equal(asked.length, 4, 'no page more than was needed');

  const moderator = await addModerator(service, 'Grace');
  for (let n = 0; n < 31; n++) await decide(moderator, (await submit(service)).id, 'approve');
  let notes = 0;
  for await (const _ of client.guestbook.list()) notes++;
  t.equal(notes, 31, 'the guestbook too, whose next page is a link');
});

t.test('takes options for one call, and shows the answer', async (t) => {
  const service = await startService(t);
  const proxy = await startFaultProxy(t, () => service.baseUrl);
  const statuses: number[] = [];
  const { client, identity } = await newMember(service, {
    onResponse: ({ status }) => statuses.push(status),
  });
  const idempotencyKey = randomUUID();
  const first = await client.cases.open(newCase('Once'), { idempotencyKey });
  const again = await client.cases.open(newCase('Once'), { idempotencyKey }).withResponse();
  t.same(again.data, first);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  t.match((await client.cases.get(first.case.id).withResponse()).headers.get('etag'), /"/);
  t.ok(statuses.includes(201));

  const retries: string[] = [];
  const cut = createClient({
    baseUrl: service.baseUrl,
    identity,
    pause: async () => undefined,
    onRetry: ({ message }) => retries.push(message),
    fetch: (url, init) => fetch(String(url).replace(service.baseUrl, proxy.url), init),
  });
  proxy.dropResponseTo('/api/v1/cases');
  await t.rejects(Promise.resolve(cut.cases.list({}, { maxRetries: 0 })), NoAnswerError);
  t.equal(retries.length, 0);
  proxy.dropResponseTo('/api/v1/cases');
  t.equal((await cut.cases.list({}, { maxRetries: 1 })).cases.length, 1);
  t.equal(retries.length, 1);
  const reason = new Error('enough');
  const signal = AbortSignal.abort(reason);
  await t.rejects(Promise.resolve(cut.cases.list({}, { signal })), reason);
  await t.rejects(Promise.resolve(client.cases.get(randomUUID())), ProblemError);
  const refused = await client.cases.get(randomUUID()).catch((error: unknown) => error);
  t.equal((refused as ProblemError).code, 'not_found');
});
