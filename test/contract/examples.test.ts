import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { newCredential, toAuthorization } from '../../harness/agent.ts';
import { type ApiResponse, readCookie } from '../../harness/api.ts';
import { createAuthenticator } from '../../harness/authenticator.ts';
import { addModerator } from '../../harness/moderation.ts';
import { newKey } from '../../harness/registration.ts';
import { fillPath } from '../../platform/http/route.ts';
import type { ProvenField } from '../../services/seal/leaf.ts';
import type { EventProof } from '../../services/seal/proofs.ts';
import { measureQueue } from '../../workers/moderation/measure-queue.ts';
import { notifyAuthors } from '../support/passing-time.ts';
import { sealNow } from '../support/sealed.ts';
import { startService } from '../support/service.ts';
import { createStableValues } from '../support/stable-values.ts';

// One walk through the whole API. `npm run examples` keeps requests and responses as the examples of the
// OpenAPI document, with ids, keys and times replaced by stable ones; otherwise they must be the same.

const FILE = join(import.meta.dirname, '../../platform/http/examples.json');

/** Responses of protocols that occur only on a fault or under load. */
const NOT_RECORDED = [
  'a2a.call 429',
  'a2a.call 503',
  'mcp.call 429',
  'mcp.call 500',
  'mcp.call 503',
];

type Recorded = Record<string, { request?: unknown; replies: Record<string, unknown> }>;

interface Options {
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
  cookie?: string;
  /** A repeated or varied request, which is no example. */
  silent?: boolean;
}

const stable = createStableValues(Date.now());
const service = await startService(t, {
  UNDO_WINDOW_SECONDS: '0',
  TRUSTED_PROXIES: '1',
  TEST_HOST: 'localhost',
  SEAL_KEY: '5a'.repeat(32),
});
const operations = service.operations;
const recorded: Recorded = {};

/** What each operation counted, by the kind of the counter. */
const counted = new Map<string, Set<string>>();
let counters = new Map<string, number>();

/** Notes which counters the latest request of an operation has raised. */
async function noteCounters(id: string): Promise<void> {
  const { rows } = await service.database.pool.query<{ kind: string; total: number }>(
    `SELECT kind, sum(count)::int AS total FROM rate_counters GROUP BY kind
      UNION ALL SELECT 'writes', sum(used)::int FROM write_budgets`,
  );
  const raised = rows.filter(({ kind, total }) => total > (counters.get(kind) ?? 0));
  counters = new Map(rows.map(({ kind, total }) => [kind, total]));
  counted.set(id, new Set([...(counted.get(id) ?? []), ...raised.map(({ kind }) => kind)]));
}

async function exchange(id: string, status: number, options: Options = {}): Promise<ApiResponse> {
  const route = operations.get(id)?.route;
  if (!route) throw new Error(`there is no operation ${id}`);
  const { params, query = '', body, headers = {}, cookie } = options;
  const key = route.idempotency ? { 'idempotency-key': randomUUID() } : {};
  const answer = await service.call(route.method, `${fillPath(route, params)}${query}`, {
    ...(route.form ? { form: body as Record<string, string> } : { body }),
    cookie,
    headers: { 'x-forwarded-for': '2001:db8::1', ...key, ...headers },
  });
  await noteCounters(id);
  if (answer.status !== status) throw new Error(`${id}: ${answer.status} ${answer.text}`);
  // Later responses repeat ids of silent exchanges.
  const place = options.silent ? `silent.${id}` : id;
  const request = stable(body, `${place}.request`);
  const reply = stable(shortened(id, answer.body), `${place}.${status}`);
  if (options.silent) return answer;
  recorded[id] ??= {
    ...(body !== undefined && status < 400 ? { request } : {}),
    replies: {},
  };
  const { replies } = recorded[id];
  if (reply !== undefined) replies[status] ??= reply;
  return answer;
}

/** A checkpoint has the port of the service, and depends on all that was done before. */
const CHECKPOINT = [
  'example.org/log/1',
  '421',
  'o0oaq1gHTqn4kUBrwqO4vPZXhQJ7xqvgDNWIhHYDU4M=',
  '',
  '\u2014 example.org/log/1 2Yx5c0hUaGlzIGlzIGFuIGV4YW1wbGU=',
  '',
].join('\n');

/** A proof with places and salts that are the same in every run. */
function exampleOfProof({ facts, words, path, ...proof }: EventProof) {
  const stableField = ({ salt, text, ...field }: ProvenField) => ({
    ...field,
    ...(salt === undefined ? {} : { salt: '5a'.repeat(16) }),
    ...(text === undefined
      ? {}
      : { text: text.replace(/\.\d{6}Z/, '.000Z').replace(/^\d+$/, '7') }),
  });
  return {
    ...proof,
    leaf: 7,
    facts: facts.map(stableField),
    words: words?.map(stableField) ?? null,
    path: path.slice(0, 3),
  };
}

/** Some responses are too long for a whole example. */
// biome-ignore lint/suspicious/noExplicitAny: a reply of any operation
function shortened(id: string, body: any): unknown {
  if (typeof body !== 'object') return body;
  if (id.startsWith('documents.openapi'))
    return { openapi: body.openapi, info: body.info, paths: {} };
  if (id.startsWith('log.') && id.includes('proof'))
    return { ...body, checkpoint: CHECKPOINT, events: body.events.slice(0, 1).map(exampleOfProof) };
  if (id === 'moderation.stats') {
    const [first] = body.arrivals_by_hour;
    const [counted] = body.waiting_by_hour;
    return {
      ...body,
      arrivals_by_hour: [{ ...first, weekday: 1, hour: 9 }],
      waiting_by_hour: [{ ...counted, hour: body.from, oldest_age_seconds: 1820 }],
    };
  }
  if (id === 'discovery.get') return { ...body, capabilities: body.capabilities.slice(0, 3) };
  if (id === 'account.export' || id === 'membership.export_disabled') {
    // Receipts are ordered by random keys.
    const time = ({ recorded_at }: { recorded_at?: string }) => recorded_at ?? '';
    return Object.fromEntries(
      Object.entries(body).map(([name, value]) => [
        name,
        Array.isArray(value)
          ? value.toSorted((one, other) => time(one).localeCompare(time(other))).slice(0, 1)
          : value,
      ]),
    );
  }
  return body;
}

/** The sender's data in a message of this revision of MCP. */
const ERA_2026 = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'example', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

const CONSENT = {
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
};

async function register(handle: string) {
  const keys = { sign_in_key: newKey(), recovery_key: newKey() };
  const member = { id: randomUUID() as string, handle, ...keys };
  await exchange('membership.register', 200, { body: member });
  const { id, sign_in_key } = member;
  const login = await exchange('membership.login', 200, { body: { id, sign_in_key } });
  const credential = { ...newCredential(), label: 'Laptop' };
  await exchange('credential.bootstrap', 201, {
    body: { member_id: id, sign_in_key, ...credential },
  });
  return {
    ...member,
    credential,
    cookie: readCookie(login),
    headers: { authorization: toAuthorization(credential) },
  };
}

type Member = Awaited<ReturnType<typeof register>>;

async function publishProfile({ headers }: Member, display_name: string) {
  const summary = 'Reads handoffs and finishes them.';
  const body = {
    display_name,
    summary,
    links: ['https://example.org/'],
    capabilities: ['research'],
  };
  await exchange('profile.publish', 200, { headers, body: { ...body, ...CONSENT } });
}

const brief = (title: string, body: string) => ({
  schema: 'service.context-packet.v1',
  kind: 'brief',
  title,
  summary: 'One paragraph for the next reader.',
  ...CONSENT,
  reuse_terms: 'CC0-1.0',
  supersedes_id: null,
  provenance: { claim_type: 'observation', observed_at: null, source_refs: [] },
  content: { body, format: 'text' },
});

async function openCase({ headers }: Member, title: string, silent = false) {
  const { body } = await exchange('case.create', 201, {
    headers,
    silent,
    body: {
      title,
      summary: 'Is the index complete?',
      objective: 'Say whether every entry is there.',
      acceptance_criteria: ['Names each missing entry'],
      artifact_id: null,
      ...CONSENT,
    },
  });
  return body.case.id as string;
}

async function workOnCase(ada: Member, bob: Member, artifact_id: string) {
  const case_id = await openCase(ada, 'Check the index');
  const params = { case_id };
  const as = ({ headers }: Member) => ({ headers, params });
  await exchange('case.claim', 200, {
    ...as(bob),
    body: { expected_version: 1, lease_seconds: 3600 },
  });
  await exchange('case.release', 200, { ...as(bob), body: { expected_version: 2 } });
  await exchange('case.claim', 200, {
    ...as(bob),
    body: { expected_version: 3, lease_seconds: 3600 },
    silent: true,
  });
  await exchange('case.note', 201, {
    ...as(bob),
    body: { message: 'I start with the oldest entry.', ...CONSENT },
  });
  await exchange('case.submit', 201, {
    ...as(bob),
    body: { expected_version: 4, summary: 'Two entries are missing.', artifact_id, ...CONSENT },
  });
  await exchange('case.review', 201, {
    ...as(ada),
    body: { expected_version: 5, decision: 'accept', comment: 'Thank you.', ...CONSENT },
  });
  await exchange('case.read', 200, { params });
  await exchange('case.mine', 200, { headers: ada.headers, query: '?role=author&limit=10' });
  await exchange('case.list', 200, { query: '?state=accepted&limit=10' });
  const withdrawn = await openCase(ada, 'Check the index again', true);
  await exchange('case.withdraw', 200, {
    headers: ada.headers,
    params: { case_id: withdrawn },
    body: { expected_version: 1 },
  });
  return case_id;
}

async function leaveNotes(ada: Member, moderator: Desk, lead: Desk) {
  const note = (more: object = {}) => ({
    id: randomUUID() as string,
    name: 'A visitor',
    message: 'Hello from the first reading.',
    ...more,
  });
  const first = note();
  await exchange('guestbook.submit', 202, { body: first });
  await exchange('guestbook.submit', 200, { body: first });
  await exchange('moderation.queue', 200, { headers: moderator, query: '?view=todo&limit=1' });
  const claimed = await exchange('moderation.claim', 200, {
    headers: moderator,
    body: { count: 1 },
  });
  const lease_ids = claimed.body.claims.map(({ lease_id }: { lease_id: string }) => lease_id);
  await exchange('moderation.me', 200, { headers: moderator });
  await exchange('moderation.renew', 200, { headers: moderator, body: { lease_ids } });
  await exchange('moderation.decide', 201, {
    headers: moderator,
    params: { id: first.id },
    body: { action: 'approve', expected_version: 1 },
  });
  await exchange('guestbook.read', 200);
  await exchange('guestbook.get', 200, { params: { id: first.id } });
  await exchange('guestbook.report', 202, {
    params: { id: first.id },
    body: { reason: 'spam', details: 'The same note stands elsewhere.' },
  });
  // From the same address, so that nothing changes.
  await exchange('pages.report_send', 303, {
    body: { type: 'note', id: first.id, reason: 'spam', details: '', website: '' },
  });
  await exchange('guestbook.read', 404, { query: `?parent_id=${randomUUID()}` });

  const others = [note({ message: 'Good morning.' }), note({ message: 'Good evening.' })];
  for (const body of others) await exchange('guestbook.submit', 202, { body, silent: true });
  const released = await exchange('moderation.claim', 200, {
    headers: moderator,
    body: { count: 1 },
    silent: true,
  });
  await exchange('moderation.release', 200, {
    headers: moderator,
    body: { lease_ids: [released.body.claims[0].lease_id] },
  });
  const items = others.map(({ id }) => ({ note_id: id, expected_version: 1 }));
  const batch = await exchange('moderation.batch', 200, {
    headers: moderator,
    body: { action: 'approve', items },
  });
  await exchange('moderation.undo_batch', 200, {
    headers: lead,
    params: { id: batch.body.batch_id },
    body: {},
  });
  const decided = await exchange('moderation.decide', 201, {
    headers: moderator,
    params: { id: others[0]?.id ?? '' },
    body: { action: 'approve', expected_version: 3 },
    silent: true,
  });
  await exchange('moderation.undo', 201, {
    headers: lead,
    params: { event_id: decided.body.event_id },
    body: { expected_version: decided.body.version },
  });

  const { cookie } = ada;
  const own = { name: '', attribution: 'member', member_handle: ada.handle };
  const appealed = note({ ...own, message: 'Read my other pages too.' });
  await exchange('guestbook.submit', 202, { cookie, body: appealed, silent: true });
  await exchange('moderation.decide', 201, {
    headers: moderator,
    params: { id: appealed.id },
    body: {
      action: 'reject',
      policy: 'spam',
      message: 'Advertising is not what the guestbook is for.',
      expected_version: 1,
    },
    silent: true,
  });
  await notifyAuthors(service);
  const params = { id: appealed.id };
  await exchange('guestbook.outcome', 200, { cookie, params });
  await exchange('guestbook.own_notes', 200, { cookie });
  await exchange('guestbook.appeal', 202, {
    cookie,
    params,
    body: { text: 'The pages are about the index, and free.' },
  });
  await exchange('moderation.note', 200, { headers: lead, params });
  const withdrawn = note({ ...own, message: 'Hello again.' });
  await exchange('guestbook.submit', 202, { cookie, body: withdrawn, silent: true });
  await exchange('guestbook.correct', 200, {
    cookie,
    params: { id: withdrawn.id },
    body: { message: 'Hello again!' },
  });
  await exchange('guestbook.withdraw', 200, { cookie, params: { id: withdrawn.id }, body: {} });
}

/** A member is disabled, learns why, appeals and leaves; another is enabled again. */
async function disableMembers(lead: Desk) {
  const request = { policy: 'spam', message: 'Nine adverts in an hour.', until: null };
  const [eve, mallory] = [await register('eve_adverts'), await register('mallory_adverts')];
  for (const { id } of [eve, mallory])
    await exchange('moderation.disable_member', 201, {
      headers: lead,
      params: { member_id: id },
      body: request,
    });
  const { id, sign_in_key, handle } = eve;
  const proof = { id, sign_in_key };
  await exchange('membership.disabled', 200, { body: proof });
  await exchange('membership.appeal_disabling', 202, {
    body: { ...proof, text: 'Somebody else had my key. I have replaced it.' },
  });
  await exchange('membership.export_disabled', 200, { body: proof });
  await exchange('membership.delete_disabled', 200, {
    body: { ...proof, confirm_handle: handle, erase_notes: true },
  });
  await exchange('moderation.enable_member', 201, {
    headers: lead,
    params: { member_id: mallory.id },
    body: {},
  });
}

type Desk = Record<string, string>;

async function moderateRecords(ada: Member, bob: Member, moderator: Desk, lead: Desk, id: string) {
  const report = {
    headers: ada.headers,
    body: { subject: { type: 'artifact', id }, reason: 'other', details: 'The file is missing.' },
  };
  await exchange('report.create', 201, report);
  await exchange('report.create', 200, report);
  const params = { type: 'artifact', id };
  const { body } = await exchange('moderation.subject', 200, { headers: moderator, params });
  await exchange('moderation.decide_subject', 201, {
    headers: moderator,
    params,
    body: { action: 'keep', expected_version: body.item.version },
  });
  const comment = await exchange('moderation.comment', 201, {
    headers: moderator,
    params,
    body: { text: 'The author says that the file moved.' },
  });
  await exchange('moderation.comments', 200, { headers: moderator, params });
  await exchange('moderation.delete_comment', 200, {
    headers: moderator,
    params: { ...params, event_id: comment.body.event_id },
    body: {},
  });
  await exchange('artifact.withdraw', 200, {
    headers: bob.headers,
    params: { artifact_id: id },
    body: {},
  });
  await exchange('moderation.policies', 200, { headers: moderator });
  await exchange('moderation.backtest', 200, { headers: moderator });
  await exchange('moderation.change_policy', 200, {
    headers: lead,
    body: {
      code: 'off_topic',
      title: 'Off topic',
      text: 'Notes are about this service.',
      active: true,
    },
  });
  const advert = { id: randomUUID(), name: 'Shop', message: 'Telescopes, cheap' };
  await exchange('guestbook.submit', 202, { body: advert, silent: true });
  const folded = { kind: 'address', note_id: advert.id };
  await exchange('moderation.fold', 200, { headers: moderator, params: folded, body: { days: 1 } });
  await exchange('moderation.folds', 200, { headers: moderator });
  await exchange('moderation.unfold', 200, { headers: moderator, params: folded });
  const saved = { view_id: randomUUID() };
  await exchange('moderation.save_view', 200, {
    headers: moderator,
    params: saved,
    body: {
      name: 'Links by new members',
      shared: true,
      view: 'todo',
      filters: { finding: 'links', author_record: 'new', sort: 'newest' },
    },
  });
  await exchange('moderation.views', 200, { headers: moderator });
  await exchange('moderation.delete_view', 200, { headers: moderator, params: saved });
  await exchange('moderation.audit', 200, { headers: moderator, query: '?limit=3' });
  await measureQueue(service.core);
  await exchange('moderation.stats', 200, { headers: moderator });
}

const toMessage = (data: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'SendMessage',
  params: { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ data }] } },
});

async function speakProtocols(ada: Member) {
  const json = { ...ada.headers, 'a2a-version': '1.0' };
  const list = toMessage({ operation: 'case.list', input: { state: 'accepted', limit: 10 } });
  await exchange('a2a.call', 200, { headers: json, body: list });
  await exchange('a2a.call', 401, { headers: { 'a2a-version': '1.0' }, body: list });
  await exchange('a2a.call', 413, { headers: json, body: `"${'x'.repeat(330_000)}"` });
  await exchange('a2a.call', 415, { headers: { ...json, 'content-type': 'text/plain' }, body: '' });
  await exchange('a2a.card', 200);
  const tool = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list_cases', arguments: { state: 'accepted' } },
  };
  await exchange('mcp.call', 200, { body: tool });
  await exchange('mcp.call', 400, { body: [tool] });
  await exchange('mcp.call', 403, { body: tool, headers: { origin: 'https://example.org' } });
  await exchange('mcp.call', 404, {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/none', params: { _meta: ERA_2026 } },
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/none' },
  });
  await exchange('mcp.call', 413, { body: `"${'x'.repeat(70_000)}"` });
  await exchange('mcp.call', 415, { body: 'tools', headers: { 'content-type': 'text/plain' } });
}

/** No request waits until the use of its credential is written. */
async function lastUseOf(credentialId: string): Promise<void> {
  const uses = 'SELECT FROM credential_uses WHERE credential_id = $1';
  while ((await service.database.pool.query(uses, [credentialId])).rowCount === 0) await sleep(20);
}

/** A passkey is added, renamed, signs in, and is removed. */
async function usePasskey({ cookie, sign_in_key }: Member) {
  const authenticator = createAuthenticator(service.baseUrl);
  const creation = await exchange('passkey.challenge', 200, { cookie, body: {} });
  const added = await exchange('passkey.add', 200, {
    cookie,
    body: {
      name: 'Laptop',
      sign_in_key,
      credential: authenticator.register(creation.body.options),
    },
  });
  const request = await exchange('passkey.sign_in_challenge', 200, { body: {} });
  await exchange('passkey.sign_in', 200, {
    body: { credential: authenticator.signIn(request.body.options) },
  });
  await exchange('passkey.list', 200, { cookie });
  const passkey_id = added.body.passkey.id;
  await exchange('passkey.rename', 200, { cookie, body: { passkey_id, name: 'Old laptop' } });
  await exchange('passkey.remove', 200, { cookie, body: { passkey_id } });
}

async function leave(ada: Member, bob: Member) {
  const { body: me } = await exchange('credential.me', 200, { headers: ada.headers });
  await lastUseOf(me.credential.credential_id);
  await exchange('credential.list', 200, { headers: ada.headers });
  t.equal(me.member.handle, ada.handle);
  await exchange('updates.list', 200, { headers: ada.headers, query: '?limit=3' });
  await exchange('membership.me', 200, { cookie: ada.cookie });
  await exchange('membership.me', 401);
  const { id, sign_in_key, cookie } = ada;
  await exchange('membership.login', 200, { body: { id, sign_in_key }, silent: true });
  const byHandle = { handle: ada.handle, sign_in_key };
  await exchange('membership.sign_in', 200, { body: byHandle });
  await exchange('membership.sessions', 200, { cookie });
  await usePasskey(ada);
  await exchange('membership.revoke_sessions', 200, { cookie, body: { all_others: true } });
  await exchange('account.export', 200, { headers: bob.headers });
  await exchange('profile.withdraw', 200, { headers: bob.headers, body: {} });
  const next = newCredential();
  await exchange('credential.rotate', 201, { headers: bob.headers, body: next });
  const headers = { authorization: toAuthorization(next) };
  // The only write over A2A; no later example has what it leaves.
  const publish = {
    operation: 'artifact.publish',
    idempotency_key: randomUUID(),
    input: brief('What was sent', 'A packet over A2A.'),
  };
  await exchange('a2a.call', 200, {
    headers: { ...ada.headers, 'a2a-version': '1.0' },
    body: toMessage(publish),
    silent: true,
  });
  await exchange('credential.revoke', 200, {
    headers: ada.headers,
    body: { credential_id: ada.credential.credential_id },
  });
  await exchange('membership.logout', 200, { cookie: ada.cookie, body: {} });
  await exchange('membership.recover', 200, {
    body: {
      id: ada.id,
      recovery_key: ada.recovery_key,
      new_sign_in_key: newKey(),
      new_recovery_key: newKey(),
      operation_id: randomUUID(),
    },
  });
  await exchange('account.delete', 200, {
    headers,
    body: { confirm_handle: bob.handle, erase_notes: false },
  });
}

t.test("documents examples that equal the service's responses", async (t) => {
  for (const id of ['discovery.get', 'status.get', 'operations.livez', 'operations.readyz'])
    await exchange(id, 200);
  for (const id of [
    'documents.openapi',
    'documents.openapi_3_0',
    'documents.openapi_agents',
    'documents.policy',
  ])
    await exchange(id, 200);
  const ada = await register('ada_lovelace');
  const bob = await register('bob_reader');
  const [grace, edsger] = [
    await addModerator(service, 'Grace', 'moderator'),
    await addModerator(service, 'Edsger', 'lead'),
  ];
  const signedIn = await exchange('moderation.sign_in', 200, { body: { token: grace.token } });
  await exchange('moderation.sign_out', 200, { cookie: readCookie(signedIn) });
  const moderator = { authorization: `Bearer ${grace.token}` };
  const lead = { authorization: `Bearer ${edsger.token}` };

  await publishProfile(ada, 'Ada Lovelace');
  await publishProfile(bob, 'Bob');
  await exchange('agents.list', 200);
  await exchange('agents.get', 200, { params: { member_id: ada.id } });
  const published = await exchange('artifact.publish', 201, {
    headers: bob.headers,
    body: brief('What was found', 'Two entries of the index are missing.'),
  });
  const artifactId = published.body.artifact.id as string;
  await exchange('artifacts.list', 200, { query: '?kind=brief' });
  await exchange('artifacts.get', 200, { params: { artifact_id: artifactId } });
  await sealNow(service.core);
  const proven = { type: 'artifact', id: artifactId };
  await exchange('log.record_proof', 200, { params: proven });
  // The first stream by name is that of the only packet.
  await exchange('log.own_proofs', 200, { headers: bob.headers, query: '?limit=1' });
  await exchange('log.audit_proofs', 200, { headers: moderator, query: '?limit=1' });
  await workOnCase(ada, bob, artifactId);
  await exchange('activity.list', 200, { query: '?limit=3' });
  await exchange('search.public', 200, { query: '?q=index&limit=3' });
  await exchange('transparency.list', 200);
  await leaveNotes(ada, moderator, lead);
  await exchange('pages.sign', 303, {
    body: {
      id: randomUUID(),
      experience: 'service',
      parent_id: '',
      name: 'Marie',
      message: 'Written without scripts.',
      website: '',
    },
  });
  await moderateRecords(ada, bob, moderator, lead, artifactId);
  await speakProtocols(ada);
  await leave(ada, bob);
  await disableMembers(lead);
  await exchange('moderation.rewind', 200, {
    headers: lead,
    params: { moderator_id: grace.id },
    body: { since: new Date(Date.now() - 1_800_000).toISOString(), dry_run: false },
  });

  const text = JSON.stringify(recorded, null, 2).replaceAll(service.baseUrl, '{base_url}');
  if (process.env.UPDATE_EXAMPLES) writeFileSync(FILE, `${text}\n`);
  const kept = JSON.parse(readFileSync(FILE, 'utf8')) as Recorded;
  t.same(JSON.parse(text), kept, 'run `npm run examples` and review the difference');

  for (const { id, route } of operations.values()) {
    if (route.body) t.ok(kept[id]?.request, `${id} has an example of its request`);
    for (const [status, { body }] of Object.entries(route.replies))
      if (body && !NOT_RECORDED.includes(`${id} ${status}`))
        t.ok(kept[id]?.replies[status], `${id} ${status} has an example`);
  }
});

t.test('each operation counts exactly the limits that its route declares', async (t) => {
  const declared = (id: string) => operations.get(id)?.route.limits ?? [];
  for (const id of operations.keys()) {
    // The page hands the note to the operation, which counts it.
    const limits = declared(id === 'pages.sign' ? 'guestbook.submit' : id);
    const kinds = limits.flatMap(({ kind, per }) =>
      per === 'address' ? [kind, `${kind}-network`] : [kind],
    );
    t.same([...(counted.get(id) ?? [])].sort(), kinds.sort(), id);
  }
});
