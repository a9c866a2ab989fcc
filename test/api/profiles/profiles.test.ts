import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ProfileCommand } from '../../../domain/profiles/profile.ts';
import { newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { patient } from '../../../harness/patient.ts';
import { attribute } from '../../../platform/eventstore/append.ts';
import { definePlan } from '../../../platform/eventstore/plan.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { findProfile, type ProfileRow } from '../../../projections/profiles/profiles.ts';
import { profileClosure } from '../../../services/profiles/closure-and-export.ts';
import { profileStream } from '../../../services/profiles/profile-stream.ts';
import { type Service, startService } from '../../support/service.ts';

const PROFILE = '/api/v1/me/profile';
const WITHDRAW = '/api/v1/me/profile/withdraw';

const profile = {
  display_name: 'Ada Lovelace',
  summary: 'Writes notes, 你好 👋\nand programs.',
  links: ['https://example.org/ada'],
  capabilities: ['counting', 'weaving'],
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
};

t.test('publishes a profile with its version and shows it as an agent', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const key = { 'idempotency-key': randomUUID() };
  const published = await ada.call('POST', PROFILE, profile, key);
  t.equal(published.status, 200);
  const { visibility, publish_consent, policy_version, ...content } = profile;
  t.match(published.body, {
    status: 'published',
    profile: { ...content, version: 1 },
    receipt: {
      operation_id: key['idempotency-key'],
      operation: 'profile.publish',
      member_id: ada.id,
    },
  });
  const read = await service.call('GET', `/api/v1/agents/${ada.id}`);
  t.equal(read.status, 200);
  t.same(read.body, {
    status: 'ok',
    agent: {
      id: ada.id,
      handle: ada.handle,
      identity: 'chosen_service_handle',
      network_verified: false,
      profile: published.body.profile,
      counts: { artifacts: 0, cases_opened: 0, cases_accepted: 0, notes: 0 },
    },
  });
  t.equal(read.headers.get('cache-control'), 'public, max-age=0, must-revalidate');
  const etag = read.headers.get('etag') ?? '';
  const same = await service.call('GET', `/api/v1/agents/${ada.id}`, {
    headers: { 'if-none-match': etag },
  });
  t.equal(same.status, 304);

  const again = await ada.call('POST', PROFILE, profile, key);
  t.equal(again.text, published.text);
  t.equal(again.headers.get('idempotency-replayed'), 'true');
  const other = await ada.call('POST', PROFILE, { ...profile, summary: 'Other' }, key);
  t.equal(other.body.status, 'idempotency_conflict');
  const { rows } = await service.database.pool.query(
    `SELECT event_id, type, data FROM feed WHERE type LIKE 'profile.%'`,
  );
  t.same(rows, [
    {
      event_id: published.body.receipt.event_ids[0],
      type: 'profile.published',
      data: { version: 1 },
    },
  ]);
});

t.test("counts a member's notes while they can be read", async (t) => {
  const service = await startService(t);
  const [ada, ann] = [await newAgent(service), await addModerator(service, 'Ann')];
  await ada.call('POST', PROFILE, profile);
  const body = { id: ada.id, sign_in_key: ada.sign_in_key };
  const cookie = readCookie(await service.call('POST', '/api/membership/login', { body }));
  const top = await submit(service);
  await decide(ann, top.id, 'approve');
  const member = { name: '', attribution: 'member', member_handle: ada.handle };
  const reply = await submit(service, { ...member, parent_id: top.id }, cookie);
  await decide(ann, reply.id, 'approve');
  const countNotes = async () =>
    (await service.call('GET', `/api/v1/agents/${ada.id}`)).body.agent.counts.notes;
  t.equal(await countNotes(), 1);
  const remove = { action: 'remove', policy: 'spam', expected_version: 2 };
  t.equal((await ann.post(`notes/${top.id}/decisions`, remove)).status, 201);
  t.equal(await countNotes(), 0, 'the removal of the parent hides the reply');
});

t.test('refuses a stale expected_version and states the current one', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(patient(service));
  const publish = (expected_version?: number) =>
    ada.call('POST', PROFILE, { ...profile, expected_version });
  t.match((await publish(1)).body.error, { reason: 'version_mismatch', current_version: 0 });
  t.equal((await publish(0)).body.profile.version, 1);
  const stale = await publish(0);
  t.equal(stale.status, 409);
  t.match(stale.body, {
    status: 'state_conflict',
    error: { reason: 'version_mismatch', current_version: 1 },
  });
  t.equal((await publish(1)).body.profile.version, 2);
  t.equal((await publish()).body.profile.version, 3);
  const racing = await Promise.all(Array.from({ length: 8 }, () => publish(3)));
  t.equal(racing.filter(({ status }) => status === 200).length, 1);
  t.equal(racing.filter(({ status }) => status === 409).length, 7);
});

t.test('answers 404 for a profile that never existed and 410 for a withdrawn one', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const path = `/api/v1/agents/${ada.id}`;
  t.equal((await service.call('GET', path)).status, 404);
  t.equal((await service.call('GET', `/api/v1/agents/${randomUUID()}`)).status, 404);
  t.equal((await service.call('GET', '/api/v1/agents/ada')).status, 400);
  const early = await ada.call('POST', WITHDRAW, {});
  t.match(early.body.error, { reason: 'wrong_state', current_state: 'none' });
  await ada.call('POST', PROFILE, profile);
  const withdrawn = await ada.call('POST', WITHDRAW, {});
  t.equal(withdrawn.status, 200);
  t.match(withdrawn.body, { status: 'withdrawn', id: ada.id, version: 2 });
  const gone = await service.call('GET', path);
  t.equal(gone.status, 410);
  t.equal(gone.body.error.code, 'gone');
  t.notMatch(gone.text, profile.display_name);
  t.same((await service.call('GET', '/api/v1/agents')).body.agents, []);
  t.match((await ada.call('POST', WITHDRAW, {})).body.error, { current_state: 'withdrawn' });
  const { version: expected_version } = withdrawn.body;
  const republished = await ada.call('POST', PROFILE, { ...profile, expected_version });
  t.equal(republished.body.profile.version, 3);
  t.equal((await service.call('GET', path)).status, 200);
});

t.test('validates every field of a profile and names the invalid one', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  const https = (length: number) => Array.from({ length }, (_, i) => `https://example.org/${i}`);
  for (const [path, value] of [
    ['display_name', ''],
    ['display_name', ' \n'],
    ['display_name', '👋'.repeat(81)],
    ['display_name', 7],
    ['summary', ''],
    ['summary', 'x'.repeat(1001)],
    ['links', https(9)],
    ['links.0', ['http://example.org']],
    ['links.0', ['https://me:secret@example.org']],
    ['links.0', ['javascript:alert(1)']],
    ['links', 'https://example.org'],
    ['capabilities', Array.from({ length: 21 }, (_, i) => `c${i}`)],
    ['capabilities.0', ['']],
    ['capabilities.0', ['x'.repeat(61)]],
    ['visibility', 'private'],
    ['publish_consent', false],
    ['publish_consent', 'true'],
    ['policy_version', 'service-public-v2'],
    ['expected_version', -1],
    ['expected_version', '1'],
    ['display_name', undefined],
    ['summary', undefined],
    ['links', undefined],
    ['capabilities', undefined],
    ['visibility', undefined],
    ['publish_consent', undefined],
    ['policy_version', undefined],
  ] as const) {
    const [field = ''] = path.split('.');
    const answer = await ada.call('POST', PROFILE, { ...profile, [field]: value });
    t.equal(answer.status, 400, `${path} ${JSON.stringify(value)}`);
    t.equal(answer.body.error.issues[0].path, path);
  }
  t.equal((await ada.call('POST', PROFILE, { ...profile, extra: 1 })).status, 400);
  t.equal((await ada.call('POST', WITHDRAW, { extra: 1 })).status, 400);
  t.equal((await ada.call('POST', PROFILE, profile, { 'idempotency-key': 'no' })).status, 400);
  const largest = {
    ...profile,
    display_name: '👋'.repeat(80),
    links: https(8),
    capabilities: Array.from({ length: 20 }, () => 'c'.repeat(60)),
  };
  t.equal((await ada.call('POST', PROFILE, largest)).body.profile.version, 1);
});

t.test('requires a bearer with the profile scope to publish', async (t) => {
  const service = await startService(t);
  const reader = await newAgent(service, ['updates:read']);
  for (const [path, body] of [
    [PROFILE, profile],
    [WITHDRAW, {}],
  ] as const) {
    const answer = await reader.call('POST', path, body);
    t.equal(answer.status, 403);
    t.match(answer.body.error, { code: 'scope_required', scope: 'profile:write' });
    const anonymous = await service.call('POST', path, { body });
    t.equal(anonymous.body.error.code, 'credential_required');
  }
});

t.test('lists agents newest first, page by page, each once', async (t) => {
  const service = await startService(t);
  const agents = [];
  for (let index = 0; index < 7; index++) {
    const agent = await newAgent(service);
    await agent.call('POST', PROFILE, { ...profile, display_name: `Agent ${index}` });
    agents.unshift(agent);
  }
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const more: string = cursor ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const page = await service.call('GET', `/api/v1/agents?limit=3${more}`);
    t.equal(page.status, 200);
    seen.push(...page.body.agents.map(({ handle }: { handle: string }) => handle));
    cursor = page.body.next_cursor;
  }
  t.same(
    seen,
    agents.map(({ handle }) => handle),
  );
  const [first] = (await service.call('GET', '/api/v1/agents?limit=1')).body.agents;
  t.same(Object.keys(first), ['id', 'handle', 'display_name', 'summary', 'published_at']);
  for (const [search, code] of [
    ['cursor=abc', 'invalid_cursor'],
    ['limit=0', 'invalid_request'],
    ['limit=101', 'invalid_request'],
    ['limit=1&limit=2', 'invalid_request'],
    ['offset=1', 'query_not_allowed'],
  ] as const) {
    const refused = await service.call('GET', `/api/v1/agents?${search}`);
    t.equal(refused.status, 400);
    t.equal(refused.body.error.code, code, search);
  }
});

t.test('closes all profile routes with API_OPEN=false', async (t) => {
  const service = await startService(t, { API_OPEN: 'false' });
  const ada = await newAgent(service);
  for (const [method, path, body] of [
    ['POST', PROFILE, profile],
    ['POST', WITHDRAW, {}],
    ['GET', '/api/v1/agents'],
    ['GET', `/api/v1/agents/${ada.id}`],
  ] as const) {
    const answer = await ada.call(method, path, body);
    t.equal(answer.status, 503, path);
    t.equal(answer.body.error.code, 'api_disabled');
  }
});

/** Appends the events of a moderator's command or of an account's closure. */
async function append(service: Service, memberId: string, make: (row: ProfileRow) => unknown) {
  await service.core.store.execute(
    definePlan({
      lock: [memberId],
      load: findProfile(memberId),
      decide: ({ rows: [row] }) => ({ answer: null, appends: make(row as ProfileRow) as never }),
    }),
  );
}

t.test('hides a removed profile and announces the removal once it is final', async (t) => {
  const service = await startService(t);
  const ada = await newAgent(service);
  await ada.call('POST', PROFILE, profile);
  const path = `/api/v1/agents/${ada.id}`;
  const moderate = (command: ProfileCommand) =>
    append(service, ada.id, (row) => {
      const decided = profileStream(ada.id, row).decide(command);
      if (isRefusal(decided)) throw new Error(JSON.stringify(decided));
      return attribute(decided.appends, { type: 'moderator', id: randomUUID() });
    });
  const feedTypes = async () => {
    const { rows } = await service.database.pool.query(
      `SELECT type FROM feed WHERE type LIKE 'profile.%' ORDER BY sequence`,
    );
    return rows.map(({ type }) => type);
  };
  const eventId = randomUUID();
  const removal = { eventId, policy: 'spam', by: randomUUID(), undoUntil: new Date() };
  const remove = (expectedVersion: number) =>
    moderate({ type: 'Remove', expectedVersion, policy: 'spam', message: 'No', claimedAt: null });
  await remove(1);
  t.equal((await service.call('GET', path)).status, 410);
  t.same(await feedTypes(), ['profile.published']);
  await moderate({ type: 'UndoRemoval', of: eventId, removal, anyTime: false, now: new Date(0) });
  t.equal((await service.call('GET', path)).body.agent.profile.version, 3);
  t.same(await feedTypes(), ['profile.published']);
  await remove(3);
  await moderate({ type: 'TellRemoval', of: eventId, removal });
  t.same(await feedTypes(), ['profile.published', 'profile.removed']);
  await moderate({ type: 'Restore', expectedVersion: 5, by: randomUUID(), removal });
  t.same(await feedTypes(), ['profile.published', 'profile.removed', 'profile.published']);
  t.equal((await service.call('GET', path)).status, 200);

  await append(service, ada.id, (row) =>
    profileClosure.close(ada.id, profileStream(ada.id, row), new Date(), { eraseNotes: false }),
  );
  t.equal((await service.call('GET', path)).status, 410);
  t.equal((await feedTypes()).at(-1), 'profile.withdrawn');
});
