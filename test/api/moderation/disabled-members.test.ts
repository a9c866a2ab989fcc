import { randomUUID } from 'node:crypto';
import t from 'tap';
import { asking, callA2a } from '../../../harness/a2a.ts';
import { bootstrap, newAgent, newCredential } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submitAs } from '../../../harness/moderation.ts';
import { publishCase, publishProfile } from '../../../harness/records.ts';
import { formatServerKeys } from '../../../platform/keys/server-keys.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { type Service, startService, untilWindowLasts } from '../../support/service.ts';

const SPAM = { policy: 'spam', message: 'Nine adverts in an hour', until: null };
const UNKNOWN = '6f6c7d4e-0000-4000-8000-000000000001';

const disable = (lead: Moderator, id: string, more: object = {}) =>
  lead.post(`members/${id}/disable`, { ...SPAM, ...more });
const enable = (lead: Moderator, id: string) => lead.post(`members/${id}/enable`, {});

const signIn = (service: Service, { id, sign_in_key }: { id: string; sign_in_key: string }) =>
  service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });

/** A member with a bearer and a session. */
async function newMember(service: Service) {
  const agent = await newAgent(service);
  const cookie = readCookie(await signIn(service, agent));
  return { ...agent, cookie };
}

const me = (service: Service, cookie: string) =>
  service.call('GET', '/api/membership/me', { cookie });

/** The code and the reason of a refusal. */
const refusal = ({ status, body }: ApiResponse) => [status, body.error?.code, body.error?.reason];

t.test('ends every session and credential of a disabled member in every process', async (t) => {
  const service = await startService(t);
  const other = await startService(
    t,
    {
      SERVER_KEYS: formatServerKeys(service.core.config.serverKeys ?? []),
      BASE_URL: service.baseUrl,
    },
    service.database,
  );
  const lead = await addModerator(service, 'Lea', 'lead');
  const [member, author] = [await newMember(service), await newMember(service)];
  await publishProfile(author);
  const headers = { authorization: member.authorization };
  const { body: head } = await other.call('GET', '/api/v1/updates?start=now', { headers });
  const poll = other.call('GET', `/api/v1/updates?wait=25&cursor=${head.next_cursor}`, { headers });
  const disabled = await disable(lead, member.id);
  t.equal((await poll).status, 401, 'a poll that waits in another process ends');
  t.match(disabled, {
    status: 201,
    body: { status: 'disabled', event_id: String, undo_until: String },
  });
  t.same(Object.keys(disabled.body).sort(), ['event_id', 'status', 'undo_until']);

  for (const process of [service, other]) {
    const call = (method: string, path: string, body?: object) =>
      process.call(method, path, {
        body,
        headers: {
          authorization: member.authorization,
          origin: service.baseUrl,
          ...(method === 'GET' ? {} : { 'idempotency-key': randomUUID() }),
        },
      });
    t.equal((await me(process, member.cookie)).status, 401);
    t.equal((await call('GET', '/api/v1/me')).status, 401);
    t.equal((await call('GET', '/api/v1/updates')).status, 401);
    t.equal((await call('GET', '/api/v1/me/export')).status, 401);
    t.equal((await call('POST', '/api/v1/me/credentials/rotate', newCredential())).status, 401);
    const { origin } = new URL(service.baseUrl);
    const { error } = (await callA2a(process, member, asking('case.mine'), { origin })).body;
    t.match(error.data, [{ metadata: { http_status: '401', reason: 'membership_disabled' } }]);
    const form = await fetch(`${process.baseUrl}/report`, {
      method: 'POST',
      headers: { accept: 'text/html', origin: service.baseUrl, cookie: member.cookie },
      body: new URLSearchParams({ type: 'profile', id: author.id, reason: 'spam' }),
    });
    t.equal(form.status, 422);
    t.match(await form.text(), 'Members alone can report this.');
  }
  t.same(refusal(await signIn(service, member)), [
    401,
    'credentials_not_accepted',
    'membership_disabled',
  ]);
  t.same(refusal(await bootstrap(service, member, newCredential())), [
    401,
    'credential_not_accepted',
    'membership_disabled',
  ]);
  const wrong = { ...member, sign_in_key: member.recovery_key };
  t.same(refusal(await signIn(service, wrong)), [401, 'credentials_not_accepted', undefined]);
  t.same(refusal(await bootstrap(service, wrong, newCredential())), [
    401,
    'credential_not_accepted',
    undefined,
  ]);
  const { rows } = await service.database.pool.query(
    `SELECT state, revoked_reason FROM credentials WHERE member_id = $1`,
    [member.id],
  );
  t.same(rows, [{ state: 'revoked', revoked_reason: 'disabled' }]);
});

t.test('revives nothing when a membership is enabled, undone or its time passes', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const { pool } = service.database;
  const endings: Record<string, (id: string) => Promise<ApiResponse | undefined>> = {
    enable: (id) => enable(lead, id),
    undo: async (id) => {
      const { rows } = await pool.query(
        `SELECT event_id FROM member_decisions WHERE member_id = $1`,
        [id],
      );
      return lead.post(`decisions/${rows[0].event_id}/undo`, {});
    },
    until: async () => {
      await pool.query('SELECT pg_sleep(5.1)');
      return undefined;
    },
  };
  for (const [name, end] of Object.entries(endings)) {
    const member = await newMember(service);
    const { rows } = await pool.query(`SELECT clock_timestamp() + interval '5 seconds' AS at`);
    const until = name === 'until' ? rows[0].at.toISOString() : null;
    t.equal((await disable(lead, member.id, { until })).status, 201, name);
    const ended = await end(member.id);
    if (ended) t.equal(ended.status, 201, name);
    t.equal((await me(service, member.cookie)).status, 401, name);
    t.equal((await member.call('GET', '/api/v1/me')).status, 401, name);
    const again = await signIn(service, member);
    t.equal(again.status, 200, `signs in after ${name}`);
    t.equal((await me(service, readCookie(again))).status, 200);
    t.equal((await bootstrap(service, member, newCredential())).status, 201, name);
  }
});

t.test('lets a recovery replace the keys of a disabled member and lift nothing', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const member = await newMember(service);
  t.equal((await disable(lead, member.id)).status, 201);
  const fresh = { sign_in_key: 'a'.repeat(64), recovery_key: 'b'.repeat(64) };
  const recovered = await service.call('POST', '/api/membership/recover', {
    body: {
      id: member.id,
      recovery_key: member.recovery_key,
      new_sign_in_key: fresh.sign_in_key,
      new_recovery_key: fresh.recovery_key,
      operation_id: randomUUID(),
    },
  });
  t.equal(recovered.status, 200);
  t.equal(recovered.headers.get('set-cookie'), null);
  t.same(refusal(await signIn(service, { ...member, ...fresh })), [
    401,
    'credentials_not_accepted',
    'membership_disabled',
  ]);
  t.same(refusal(await signIn(service, member)), [401, 'credentials_not_accepted', undefined]);
});

t.test('releases the claims of a disabled member and keeps what is published', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const [author, member] = [await newMember(service), await newMember(service)];
  const opened = await publishCase(author);
  const submitted = await publishCase(author);
  for (const { id } of [opened, submitted]) {
    const claimed = await member.call('POST', `/api/v1/cases/${id}/claim`, { expected_version: 1 });
    t.equal(claimed.status, 200);
  }
  const handedIn = await member.call('POST', `/api/v1/cases/${submitted.id}/submissions`, {
    expected_version: 2,
    summary: 'Done',
    visibility: 'public',
    publish_consent: true,
    policy_version: 'service-public-v1',
  });
  t.equal(handedIn.status, 201, handedIn.text);
  await publishProfile(member);
  const note = await submitAs(service, member);
  t.equal((await decide(lead, note.id, 'approve')).status, 201);
  const waiting = await submitAs(service, member, { message: 'Second' });

  t.equal((await disable(lead, member.id)).status, 201);
  const caseOf = async (id: string) => (await service.call('GET', `/api/v1/cases/${id}`)).body.case;
  t.match(await caseOf(opened.id), { state: 'open' });
  t.match(await caseOf(submitted.id), { state: 'submitted' });
  const pages = [
    '/api/guestbook',
    `/api/v1/agents/${member.id}`,
    '/api/v1/activity',
    '/api/v1/search?q=hello',
    '/',
    '/members',
    `/members/${member.handle}`,
    `/members/${member.handle}.atom`,
    `/cases/${opened.id}`,
    '/activity',
    '/activity.json',
  ];
  for (const path of pages) {
    const { status, text } = await service.call('GET', path);
    t.equal(status, 200, path);
    t.notMatch(text, /(membership_|is |was )disabled|\bLea\b|adverts/, path);
  }
  t.match((await service.call('GET', '/api/guestbook')).text, note.id);
  t.match(await lead.get(`notes/${waiting.id}`), { body: { item: { state: 'pending' } } });
  const updates = await author.call('GET', '/api/v1/updates?types=case.released');
  t.match(updates.body.events, [
    { type: 'case.released', data: { member_id: member.id, reason: 'claimant' } },
  ]);
  const report = await service.call('POST', `/api/guestbook/${note.id}/report`, {
    body: { reason: 'spam' },
  });
  t.equal(report.status, 202, 'what a disabled member published can be reported');
});

t.test('lets only leads disable and enable members that exist', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const member = await newMember(service);
  for (const role of ['triage', 'moderator', 'auditor'] as const) {
    const other = await addModerator(service, role, role);
    t.same((await disable(other, member.id)).status, 403, role);
    t.same((await enable(other, member.id)).status, 403, role);
  }
  t.equal(
    (await service.call('POST', `/api/moderation/members/${member.id}/disable`, { body: SPAM }))
      .status,
    401,
  );
  const gone = await newAgent(service);
  const deletion = { confirm_handle: gone.handle };
  t.equal((await gone.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  await eraseMembers(service.core, { member_id: gone.id });
  for (const id of [UNKNOWN, gone.id]) {
    t.same(refusal(await disable(lead, id)), [404, 'not_found', undefined]);
    t.same(refusal(await enable(lead, id)), [404, 'not_found', undefined]);
  }
  for (const more of [
    { until: '2020-01-01T00:00:00Z' },
    { until: '2030-01-01T00:00:00' },
    { policy: 'no_such_policy' },
    { message: '' },
    { message: 'x'.repeat(501) },
    { because: 'x' },
  ])
    t.equal((await disable(lead, member.id, more)).status, 400, JSON.stringify(more));
  t.same(refusal(await enable(lead, member.id)), [409, 'state_conflict', 'wrong_state']);
  t.equal((await lead.post(`members/${member.id}/disable`, { policy: 'spam' })).status, 201);
  t.same(refusal(await disable(lead, member.id)), [409, 'state_conflict', 'wrong_state']);
});

t.test('undoes a disabling, and the undo of its end disables the membership again', async (t) => {
  const service = await startService(t);
  const [lea, leo] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Leo', 'lead'),
  ];
  const mod = await addModerator(service, 'Mo');
  const member = await newMember(service);
  const first = (await disable(lea, member.id)).body;
  const undo = (moderator: Moderator, of: { event_id: string }) =>
    moderator.post(`decisions/${of.event_id}/undo`, {});
  t.same(refusal(await undo(mod, first)), [403, 'role_required', undefined]);
  t.match(await undo(leo, first), { status: 201, body: { status: 'undone', state: 'enabled' } });
  t.same(refusal(await undo(lea, first)), [409, 'state_conflict', 'wrong_state']);
  t.equal((await signIn(service, member)).status, 200);

  t.equal((await disable(lea, member.id)).status, 201);
  const lifted = (await enable(leo, member.id)).body;
  t.match(lifted, { status: 'enabled', event_id: String, undo_until: String });
  const meanwhile = readCookie(await signIn(service, member));
  t.equal((await me(service, meanwhile)).status, 200);
  t.match(await undo(leo, lifted), { status: 201, body: { status: 'undone', state: 'disabled' } });
  t.equal((await me(service, meanwhile)).status, 401, 'a session begun meanwhile ends');
  t.equal((await signIn(service, member)).status, 401);
});

t.test('a lead who disabled a membership cannot undo what another lead lifted', async (t) => {
  const service = await startService(t);
  const lead = (name: string) => addModerator(service, name, 'lead');
  const [lea, leo, lou] = [await lead('Lea'), await lead('Leo'), await lead('Lou')];
  const member = await newMember(service);
  t.equal((await disable(lea, member.id)).status, 201);
  const { event_id } = (await enable(leo, member.id)).body;
  const undo = (by: Moderator) => by.post(`decisions/${event_id}/undo`, {});
  t.same(refusal(await undo(lea)), [409, 'state_conflict', 'second_person_required']);
  t.equal((await signIn(service, member)).status, 200);
  t.match(await undo(lou), { status: 201, body: { status: 'undone', state: 'disabled' } });
});

t.test('keeps the undo of a disabling after its window for another lead', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [lea, leo] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Leo', 'lead'),
  ];
  const member = await newMember(service);
  const { event_id } = (await disable(lea, member.id)).body;
  t.same(refusal(await lea.post(`decisions/${event_id}/undo`, {})), [
    409,
    'state_conflict',
    'second_person_required',
  ]);
  t.equal((await leo.post(`decisions/${event_id}/undo`, {})).status, 201);
});

t.test('refuses a lead against whose decision the member has an open appeal', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [lea, leo] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Leo', 'lead'),
  ];
  const member = await newMember(service);
  const note = await submitAs(service, member);
  t.equal((await decide(lea, note.id, 'reject')).status, 201);
  const appeal = await service.call('POST', `/api/guestbook/${note.id}/appeal`, {
    body: { text: 'It is no advert' },
    cookie: member.cookie,
  });
  t.equal(appeal.status, 202, appeal.text);
  t.same(refusal(await disable(lea, member.id)), [409, 'state_conflict', 'second_person_required']);
  t.equal((await disable(leo, member.id)).status, 201);
});

t.test('limits how many memberships a lead disables within an hour', async (t) => {
  const service = await startService(t);
  const [lea, leo] = [
    await addModerator(service, 'Lea', 'lead'),
    await addModerator(service, 'Leo', 'lead'),
  ];
  const member = await newMember(service);
  await untilWindowLasts(service.database.pool);
  for (let turn = 0; turn < 20; turn++) {
    t.equal((await disable(lea, member.id)).status, 201);
    t.equal((await enable(leo, member.id)).status, 201);
  }
  const refused = await disable(lea, member.id);
  t.match(refused, {
    status: 429,
    body: { error: { code: 'rate_limited', limit: 20, resets_at: String } },
  });
  t.equal((await disable(leo, member.id)).status, 201);
});

t.test('shows a disabling in the audit, and its words to leads alone', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const member = await newMember(service);
  const { event_id } = (await disable(lead, member.id)).body;
  const subject = { type: 'member', id: member.id };
  for (const filter of ['', `&subject=${member.id}`, '&policy=spam', '&moderator=Lea']) {
    const { status, body, text } = await auditor.get(`audit?order=newest${filter}`);
    t.equal(status, 200, text);
    t.match(
      body.entries.find(({ id }: { id: string }) => id === event_id),
      {
        type: 'MemberDisabled',
        actor: { type: 'moderator', name: 'Lea' },
        subject,
        data: { policy: 'spam', until: null },
      },
      filter,
    );
    t.notMatch(text, 'adverts');
  }
  t.notMatch(service.logged.join(''), 'adverts');
});

t.test('accepts one sign-in less than it refuses when a lead disables meanwhile', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  for (let turn = 0; turn < 10; turn++) {
    const member = await newMember(service);
    const [disabled, ...logins] = await Promise.all([
      disable(lead, member.id),
      ...Array.from({ length: 5 }, () => signIn(service, member)),
    ]);
    t.equal(disabled.status, 201);
    for (const login of logins)
      if (login.status === 200)
        t.equal((await me(service, readCookie(login))).status, 401, 'ended with the others');
      else t.equal(login.status, 401);
  }
});
