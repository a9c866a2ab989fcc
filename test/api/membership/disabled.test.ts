import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import type { ApiResponse } from '../../../harness/api.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { newKey } from '../../../harness/registration.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { type Service, startService } from '../../support/service.ts';

const WORDS = 'Nine adverts in an hour';
const SPAM = { policy: 'spam', message: WORDS, until: null };

type Keys = { id: string; sign_in_key: string };

const ask = (service: Service, path: string, { id, sign_in_key }: Keys, more: object = {}) =>
  service.call('POST', `/api/membership/disabled${path}`, { body: { id, sign_in_key, ...more } });

const ROUTES = [
  ['', {}],
  ['/appeal', { text: 'It was not me' }],
  ['/export', {}],
  ['/delete', { confirm_handle: 'some_handle', erase_notes: true }],
] as const;

/** What a stranger could compare: everything of a response but its id and its time. */
const comparable = ({ status, body, headers }: ApiResponse) => {
  const { request_id: _, ...error } = body.error;
  const shown = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit)/.test(name));
  return { status, state: body.status, error, shown };
};

async function startWithLead(t: Test, settings = {}) {
  const service = await startService(t, settings);
  const lead = await addModerator(service, 'Lea', 'lead');
  const disable = async (id: string, more: object = {}) => {
    const answer = await lead.post(`members/${id}/disable`, { ...SPAM, ...more });
    t.equal(answer.status, 201, answer.text);
    return answer.body as { event_id: string };
  };
  return { service, lead, disable };
}

t.test('says to a disabled member why, until when, and what can be done', async (t) => {
  const { service, disable } = await startWithLead(t, { UNDO_WINDOW_SECONDS: '0' });
  const member = await newAgent(service);
  const until = '2099-01-01T00:00:00.000Z';
  await disable(member.id, { until });
  const answer = await ask(service, '', member);
  t.equal(answer.status, 200);
  t.strictSame(
    { ...answer.body, since: 'a time' },
    {
      status: 'disabled',
      id: member.id,
      since: 'a time',
      until,
      policy: 'spam',
      title: 'Spam',
      message: WORDS,
      appeal: null,
      actions: ['appeal', 'export', 'delete'],
    },
  );
  t.equal(answer.headers.get('cache-control'), 'no-store');
  t.equal(answer.headers.get('set-cookie'), null);
  t.equal(answer.headers.get('access-control-allow-origin'), null);
  t.notMatch(answer.text, 'Lea');
});

t.test('keeps the reason until the undo window is over', async (t) => {
  const { service, disable } = await startWithLead(t);
  const member = await newAgent(service);
  await disable(member.id);
  const { status, body } = await ask(service, '', member);
  t.equal(status, 200);
  t.strictSame(Object.keys(body).sort(), ['actions', 'appeal', 'id', 'since', 'status', 'until']);
  t.strictSame(body.actions, ['export', 'delete']);
  t.match(await ask(service, '/appeal', member, { text: 'Why?' }), {
    status: 409,
    body: { error: { code: 'state_conflict', reason: 'wrong_state' } },
  });
  const exported = await ask(service, '/export', member);
  t.equal(exported.status, 200);
  t.match(exported.body.disablings, [{ until: null, lifted_at: null, decision: null }]);
  t.notMatch(exported.text, /adverts|Lea/);
});

t.test('tells a stranger nothing on any of the routes', async (t) => {
  const { service, disable } = await startWithLead(t, { UNDO_WINDOW_SECONDS: '0' });
  const [active, disabled, gone] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  await disable(disabled.id);
  const deletion = { confirm_handle: gone.handle };
  t.equal((await gone.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  const wrong = newKey();
  for (const [path, more] of ROUTES) {
    const strangers = [
      await ask(service, path, { id: randomUUID(), sign_in_key: wrong }, more),
      await ask(service, path, { id: active.id, sign_in_key: wrong }, more),
      await ask(service, path, { id: disabled.id, sign_in_key: wrong }, more),
      await ask(service, path, { id: disabled.id, sign_in_key: disabled.recovery_key }, more),
      await ask(service, path, gone, more),
    ].map(comparable);
    t.match(strangers[0], { status: 401, error: { code: 'credentials_not_accepted' } }, path);
    for (const stranger of strangers) t.strictSame(stranger, strangers[0], path);
    t.match(
      await ask(service, path, active, more),
      { status: 409, body: { error: { code: 'state_conflict', reason: 'wrong_state' } } },
      path,
    );
    const elsewhere = await service.call('POST', `/api/membership/disabled${path}`, {
      body: { id: disabled.id, sign_in_key: disabled.sign_in_key, ...more },
      headers: { origin: 'https://example.org' },
    });
    t.match(elsewhere, { status: 403, body: { error: { code: 'origin_not_allowed' } } }, path);
  }
});

t.test('counts every proof against the limit of all attempts with keys', async (t) => {
  const { service, disable } = await startWithLead(t, {
    LIMIT_KEY_ATTEMPTS: '6',
    UNDO_WINDOW_SECONDS: '0',
  });
  const member = await newAgent(service); // one attempt
  await disable(member.id);
  for (const [path, more] of ROUTES.slice(0, 3))
    t.ok((await ask(service, path, member, more)).status < 300, path);
  const { id, sign_in_key } = member;
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(login.status, 401);
  t.equal((await ask(service, '', member)).status, 200, 'the sixth');
  for (const [path, more] of ROUTES)
    t.match(await ask(service, path, member, more), { status: 429 }, path);
});

t.test('stores no key of an accepted or refused request', async (t) => {
  const { service, disable } = await startWithLead(t, { UNDO_WINDOW_SECONDS: '0' });
  const member = await newAgent(service);
  await disable(member.id);
  const wrong = newKey();
  for (const [path, more] of ROUTES) {
    await ask(service, path, { ...member, sign_in_key: wrong }, more);
    await ask(service, path, member, more);
  }
  const { rows: tables } = await service.database.pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
      WHERE schemaname IN ('public', 'pgboss')`,
  );
  t.ok(tables.length > 30);
  for (const key of [wrong, member.sign_in_key]) {
    t.notMatch(service.logged.join(''), key, 'nothing is logged');
    for (const { name } of tables) {
      const { rowCount } = await service.database.pool.query(
        `SELECT FROM ${name} row WHERE row::text LIKE '%${key}%'`,
      );
      t.equal(rowCount, 0, name);
    }
  }
});

t.test('takes one appeal for each disabling', async (t) => {
  const { service, disable, lead } = await startWithLead(t, { UNDO_WINDOW_SECONDS: '0' });
  const leo = await addModerator(service, 'Leo', 'lead');
  const member = await newAgent(service);
  await disable(member.id);
  const text = 'Somebody else had my key';
  t.match(await ask(service, '/appeal', member, { text }), {
    status: 202,
    body: { status: 'appeal_opened' },
  });
  t.match(await ask(service, '/appeal', member, { text }), {
    status: 409,
    body: { error: { reason: 'already_appealed' } },
  });
  for (const wrong of ['', 'x'.repeat(501)])
    t.equal((await ask(service, '/appeal', member, { text: wrong })).status, 400);
  const { body } = await ask(service, '', member);
  t.match(body, {
    appeal: { id: String, state: 'open', text, decided_at: null, message: null },
    actions: ['export', 'delete'],
  });
  t.match(await lead.post(`members/${member.id}/enable`, {}), {
    status: 409,
    body: { error: { reason: 'second_person_required' } },
  });
  t.equal((await leo.post(`members/${member.id}/enable`, {})).status, 201);
  const exported = await newExport(service, member);
  t.match(exported.disabling_appeals, [{ state: 'granted', text, message: null }]);
  t.match(exported.disablings, [{ decision: { policy: 'spam', message: WORDS } }]);
  t.match(
    exported.feed.filter(({ type }: { type: string }) => /^member\.(dis|en)abled$/.test(type)),
    [
      { type: 'member.disabled', data: { until: null }, actor: { type: 'moderator' } },
      { type: 'member.enabled', data: {}, actor: { type: 'moderator' } },
    ],
  );
  t.notMatch(JSON.stringify(exported), /Lea|Leo/);
});

/** The export by a new bearer, for a member who may sign in. */
async function newExport(service: Service, member: Awaited<ReturnType<typeof newAgent>>) {
  const { bootstrap, newCredential, toAuthorization } = await import('../../../harness/agent.ts');
  const credential = newCredential();
  const made = await bootstrap(service, member, credential);
  if (made.status !== 201) throw new Error(made.text);
  const headers = { authorization: toAuthorization(credential) };
  return (await service.call('GET', '/api/v1/me/export', { headers })).body;
}

t.test('exports for a disabled member what a bearer exports', async (t) => {
  const { service, disable, lead } = await startWithLead(t);
  const member = await newAgent(service);
  const { event_id } = await disable(member.id);
  const disabled = (await ask(service, '/export', member)).body;
  t.equal((await lead.post(`decisions/${event_id}/undo`, {})).status, 201);
  const { body: enabled } = { body: await newExport(service, member) };
  t.strictSame(Object.keys(disabled), Object.keys(enabled));
  for (const section of Object.keys(disabled)) {
    if (
      ['exported_at', 'feed_sequence', 'feed', 'credentials', 'receipts', 'disablings'].includes(
        section,
      )
    )
      continue;
    t.strictSame(disabled[section], enabled[section], section);
  }
});

t.test('deletes the account of a disabled member, after which every request is 401', async (t) => {
  for (const settings of [{}, { UNDO_WINDOW_SECONDS: '0' }]) {
    const { service, disable } = await startWithLead(t, settings);
    const member = await newAgent(service);
    await disable(member.id);
    if ('UNDO_WINDOW_SECONDS' in settings)
      t.equal((await ask(service, '/appeal', member, { text: 'Why?' })).status, 202);
    const deletion = { confirm_handle: member.handle, erase_notes: true };
    t.match(await ask(service, '/delete', member, { ...deletion, confirm_handle: 'other_one' }), {
      status: 400,
      body: { error: { issues: [{ path: 'confirm_handle' }] } },
    });
    t.match(await ask(service, '/delete', member, deletion), {
      status: 200,
      body: { status: 'deactivated' },
    });
    for (const [path, more] of ROUTES)
      t.equal((await ask(service, path, member, more)).status, 401, path);
    t.equal(await eraseMembers(service.core, { member_id: member.id }), 1);
    const { rows } = await service.database.pool.query(
      `SELECT message FROM member_decisions UNION ALL SELECT text FROM member_appeals
        UNION ALL SELECT personal::text FROM events WHERE owner_id = $1`,
      [member.id],
    );
    t.strictSame(new Set(rows.map(({ message }) => message)), new Set([null]), 'no word is left');
  }
});
