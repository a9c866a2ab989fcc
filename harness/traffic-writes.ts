import { randomUUID } from 'node:crypto';
import { asking, VERSION } from './a2a.ts';
import { type Agent, bootstrap, newAgent, newCredential, toAuthorization } from './agent.ts';
import { type Api, readCookie } from './api.ts';
import { createCaseCommands, createOpenCase } from './cases.ts';
import { decide, submit } from './moderation.ts';
import { brief } from './packets.ts';
import { publishArtifact, publishProfile, report } from './records.ts';
import { newKey, newRegistration } from './registration.ts';
import { createOperation, type Operation, type Traffic } from './traffic-operation.ts';

/** Operations of members and guests. */
export function writes({ api, ann, bob, cookie, moderator }: Traffic): Operation[] {
  const post = (path: string, body: object, more: object = {}) =>
    api.call('POST', path, { body, ...more });
  const [mine, theirs] = [createCaseCommands(ann), createCaseCommands(bob)];
  const attributed = { name: '', attribution: 'member', member_handle: bob.handle };
  const ownNote = () => submit(api, attributed, cookie);
  const publicNote = async () => {
    const note = await submit(api);
    await decide(moderator, note.id, 'approve');
    return note;
  };
  const claimed = async () => {
    const id = await createOpenCase(mine);
    await theirs.claim(id, 1);
    return id;
  };
  const submitted = async () => {
    const id = await claimed();
    await theirs.submit(id, 2);
    return id;
  };
  const newSession = async () => {
    const body = { id: ann.id, sign_in_key: ann.sign_in_key };
    const cookie = readCookie(await post('/api/membership/login', body));
    return { cookie, id: /=([^.]+)/.exec(cookie)?.[1] };
  };
  const twoSessions = async () => [await newSession(), await newSession()] as const;
  return [
    createOperation('POST /api/membership/register', () =>
      post('/api/membership/register', newRegistration()),
    ),
    createOperation('POST /api/membership/login', () =>
      post('/api/membership/login', { id: ann.id, sign_in_key: ann.sign_in_key }),
    ),
    createOperation('POST /api/membership/sign-in', () =>
      post('/api/membership/sign-in', { handle: ann.handle, sign_in_key: ann.sign_in_key }),
    ),
    {
      name: 'POST /api/membership/logout',
      async prepare() {
        const session = await newSession();
        return () => post('/api/membership/logout', {}, session);
      },
    },
    createPreparedOperation(
      'POST /api/membership/sessions/revoke',
      twoSessions,
      ([session, other]) =>
        post('/api/membership/sessions/revoke', { session_id: other.id }, session),
    ),
    createPreparedOperation(
      'POST /api/membership/sessions/revoke, all others',
      twoSessions,
      ([session]) => post('/api/membership/sessions/revoke', { all_others: true }, session),
    ),
    {
      name: 'POST /api/membership/recover',
      async prepare() {
        const { id, recovery_key } = await newAgent(api);
        const [new_sign_in_key, new_recovery_key] = [newKey(), newKey()];
        const operation_id = randomUUID();
        const body = { id, recovery_key, new_sign_in_key, new_recovery_key, operation_id };
        return () => post('/api/membership/recover', body);
      },
    },
    withNew(api, 'POST /api/v1/credentials', (agent) => bootstrap(api, agent, newCredential())),
    withNew(api, 'POST /api/v1/me/credentials/rotate', (agent) =>
      agent.call('POST', '/api/v1/me/credentials/rotate', newCredential()),
    ),
    withNew(api, 'POST /api/v1/me/credentials/revoke', (agent) =>
      agent.call('POST', '/api/v1/me/credentials/revoke', {
        credential_id: agent.credential.credential_id,
      }),
    ),
    withNew(api, 'POST /api/v1/me/delete', (agent) =>
      agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle, erase_notes: true }),
    ),
    createOperation('POST /api/v1/me/profile', () =>
      ann.call('POST', '/api/v1/me/profile', {
        display_name: 'Ann',
        summary: 'Counts',
        links: [],
        capabilities: [],
        visibility: 'public',
        publish_consent: true,
        policy_version: 'service-public-v1',
      }),
    ),
    {
      name: 'POST /api/v1/me/profile/withdraw',
      async prepare() {
        await publishProfile(bob);
        return () => bob.call('POST', '/api/v1/me/profile/withdraw', {});
      },
    },
    createOperation('POST /api/v1/artifacts', () => ann.call('POST', '/api/v1/artifacts', brief())),
    {
      name: 'POST /api/v1/artifacts, superseding',
      async prepare() {
        const { id } = await publishArtifact(ann);
        return () => ann.call('POST', '/api/v1/artifacts', brief({ supersedes_id: id }));
      },
    },
    {
      name: 'POST /api/v1/artifacts/:artifact_id/withdraw',
      async prepare() {
        const { id } = await publishArtifact(ann);
        return () => ann.call('POST', `/api/v1/artifacts/${id}/withdraw`, {});
      },
    },
    createOperation('POST /api/v1/cases', () => mine.open()),
    createPreparedOperation(
      'POST /api/v1/cases/:case_id/claim',
      () => createOpenCase(mine),
      (id) => theirs.claim(id, 1),
    ),
    createPreparedOperation('POST /api/v1/cases/:case_id/release', claimed, (id) =>
      theirs.release(id, 2),
    ),
    createPreparedOperation('POST /api/v1/cases/:case_id/submissions', claimed, (id) =>
      theirs.submit(id, 2),
    ),
    createPreparedOperation('POST /api/v1/cases/:case_id/reviews', submitted, (id) =>
      mine.review(id, 3, 'accept'),
    ),
    createPreparedOperation(
      'POST /api/v1/cases/:case_id/withdraw',
      () => createOpenCase(mine),
      (id) => mine.withdraw(id, 1),
    ),
    createPreparedOperation(
      'POST /api/v1/cases/:case_id/notes',
      () => createOpenCase(mine),
      (id) => theirs.note(id),
    ),
    createPreparedOperation(
      'POST /api/v1/reports',
      () => publishArtifact(ann),
      (record) => report(bob, record),
    ),
    createPreparedOperation('POST /api/v1/reports, of a note', publicNote, ({ id }) =>
      report(bob, { type: 'note', id }),
    ),
    createOperation('POST /api/guestbook', () => post('/api/guestbook', newNote())),
    createOperation('POST /api/guestbook, by a member', () =>
      post('/api/guestbook', { ...newNote(), ...attributed }, { cookie }),
    ),
    createPreparedOperation('POST /api/guestbook, a reply', publicNote, ({ id }) =>
      post('/api/guestbook', { ...newNote(), parent_id: id }),
    ),
    createPreparedOperation('POST /api/guestbook/:id/correct', ownNote, ({ id }) =>
      post(`/api/guestbook/${id}/correct`, { message: 'Corrected' }, { cookie }),
    ),
    createPreparedOperation('POST /api/guestbook/:id/withdraw', ownNote, ({ id }) =>
      post(`/api/guestbook/${id}/withdraw`, {}, { cookie }),
    ),
    createPreparedOperation('POST /api/guestbook/:id/report', publicNote, ({ id }) =>
      post(`/api/guestbook/${id}/report`, { reason: 'spam' }, { cookie }),
    ),
    createPreparedOperation('POST /report', publicNote, ({ id }) =>
      api.call('POST', '/report', { form: { type: 'note', id, reason: 'spam' } }),
    ),
    createPreparedOperation(
      'POST /api/guestbook/:id/appeal',
      async () => {
        const note = await ownNote();
        await decide(moderator, note.id, 'approve');
        // A removal can be appealed immediately, a rejection only after its undo window.
        const removal = { action: 'remove', expected_version: 2, policy: 'spam' };
        await moderator.post(`notes/${note.id}/decisions`, removal);
        return note;
      },
      ({ id }) => post(`/api/guestbook/${id}/appeal`, { text: 'Why?' }, { cookie }),
    ),
    createPreparedOperation('GET /api/guestbook/:id/outcome', ownNote, ({ id }) =>
      api.call('GET', `/api/guestbook/${id}/outcome`, { cookie }),
    ),
    createPreparedOperation('GET /api/membership/notes', ownNote, () =>
      api.call('GET', '/api/membership/notes', { cookie }),
    ),
    createOperation('POST /guestbook', () =>
      api.call('POST', '/guestbook', {
        form: { id: randomUUID(), name: 'Ada', message: 'Hello there' },
      }),
    ),
    createOperation('POST /a2a', () =>
      post('/a2a', asking('credential.me'), {
        headers: { authorization: toAuthorization(ann.credential), ...VERSION },
      }),
    ),
  ];
}

const newNote = () => ({ id: randomUUID() as string, name: 'Ada', message: 'Hello there' });

export function createPreparedOperation<Made>(
  name: string,
  make: () => Promise<Made>,
  send: (made: Made) => ReturnType<Api['call']>,
): Operation {
  return {
    name,
    async prepare() {
      const made = await make();
      return () => send(made);
    },
  };
}

const withNew = (
  api: Api,
  name: string,
  send: (agent: Agent) => ReturnType<Api['call']>,
): Operation => createPreparedOperation(name, () => newAgent(api), send);
