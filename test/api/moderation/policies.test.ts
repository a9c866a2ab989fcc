import t from 'tap';
import { refuseUnlessActive } from '../../../domain/moderation/policy.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { findPolicy, type PolicyRow } from '../../../projections/moderation/policies.ts';
import { rebuild } from '../../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../../services/features.ts';
import { type Service, startService } from '../../support/service.ts';

const PATH = '/api/moderation/policies';

const put = (service: Service, token: string, body: object) =>
  service.call('PUT', PATH, { body, headers: { authorization: `Bearer ${token}` } });

const rude = { code: 'rudeness', title: 'Rude', text: 'Be kind.', active: true };

t.test('shows the policies to every role and lets a lead change them by version', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const codes = async () =>
    (await auditor.get('policies')).body.policies.map(
      ({ code, version, active }: PolicyRow) => `${code} ${version} ${active}`,
    );
  const defaults = ['spam', 'abuse', 'personal_data', 'illegal', 'off_topic', 'other'];
  t.same(
    await codes(),
    defaults.map((code) => `${code} 1 true`),
  );
  t.match((await auditor.get('policies')).body, { status: 'ok', policies: [{ title: 'Spam' }] });

  const added = await put(service, lead.token, rude);
  t.equal(added.status, 200);
  t.same(added.body, { status: 'saved', policy: { ...rude, messages: [], version: 1 } });
  const spam = { code: 'spam', title: 'Spam', text: 'No advertising.', active: false };
  t.equal(
    (await put(service, lead.token, { ...spam, expected_version: 1 })).body.policy.version,
    2,
  );
  t.equal(
    (await put(service, lead.token, spam)).body.policy.version,
    2,
    'an equal policy keeps its version',
  );
  const stale = await put(service, lead.token, { ...rude, title: 'R', expected_version: 0 });
  t.equal(stale.status, 409);
  t.match(stale.body.error, { reason: 'version_mismatch', current_version: 1 });
  t.same(await codes(), [
    'spam 2 false',
    ...defaults.slice(1).map((c) => `${c} 1 true`),
    'rudeness 1 true',
  ]);

  const { rows } = await service.database.pool.query(
    `SELECT stream_id, data, personal, actor FROM events WHERE type = 'PolicyChanged'
     ORDER BY position DESC LIMIT 1`,
  );
  t.same(rows, [
    {
      stream_id: 'policy-spam',
      data: { code: 'spam', version: 2, active: false },
      personal: { title: 'Spam', text: 'No advertising.' },
      actor: { type: 'moderator', id: lead.id },
    },
  ]);
  const before = (await auditor.get('policies')).body;
  await rebuild(service.database.url, catalogue, projections);
  t.same((await auditor.get('policies')).body, before, 'a rebuild yields the same policies');
});

t.test('refuses changes by other roles and invalid policies', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  for (const role of ['triage', 'moderator', 'auditor'] as const) {
    const { token } = await addModerator(service, role, role);
    const refused = await put(service, token, rude);
    t.equal(refused.status, 403);
    t.equal(refused.body.status, 'role_required');
  }
  for (const wrong of [
    { code: 'Spam' },
    { code: 'x' },
    { title: ' ' },
    { title: 'x'.repeat(81) },
    { text: '' },
    { active: 'yes' },
    { expected_version: -1 },
    { messages: [' '] },
    { messages: ['x'.repeat(501)] },
    { messages: ['a', 'b', 'c', 'd'] },
    { more: 1 },
  ])
    t.equal((await put(service, lead.token, { ...rude, ...wrong })).status, 400);
  t.equal((await lead.get('policies')).body.policies.length, 6);
});

t.test('keeps up to three prepared messages for each policy', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const messages = ['Please be kind.', 'You wrote this twice.'];
  const change = async (body: object) => (await put(service, lead.token, body)).body.policy;
  t.match(await change({ ...rude, messages }), { version: 1, messages });
  t.match(await change({ ...rude, messages }), { version: 1 }, 'the same again changes nothing');
  t.match(await change({ ...rude, text: 'Be very kind.' }), { version: 2, messages });
  await rebuild(service.database.url, catalogue, projections);
  const { policies } = (await lead.get('policies')).body;
  t.match(policies.at(-1), { code: 'rudeness', messages });
  t.notMatch((await service.call('GET', '/policy.json')).text, 'You wrote this twice');
  t.same((await change({ ...rude, text: 'Be very kind.', messages: [] })).messages, []);
});

t.test('gives each of several concurrent changes its own version', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map((text) => put(service, lead.token, { ...rude, text })),
  );
  t.same(answers.map(({ body }) => body.policy.version).sort(), [1, 2, 3, 4]);
  const one = await Promise.all(
    ['e', 'f'].map((text) => put(service, lead.token, { ...rude, text, expected_version: 4 })),
  );
  t.same(one.map(({ status }) => status).sort(), [200, 409]);
});

t.test('accepts only active policies in a decision', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  await put(service, lead.token, { ...rude, active: false });
  const check = async (code: string) => {
    const { text, values } = findPolicy(code);
    const { rows } = await service.database.pool.query<PolicyRow>(text, values);
    return refuseUnlessActive(rows[0]);
  };
  t.equal(await check('spam'), null);
  const expected = { refused: 'invalid_request', details: { issues: [{ path: 'policy' }] } };
  t.match(await check('rudeness'), expected);
  t.match(await check('taste'), expected);
});
