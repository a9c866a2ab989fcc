import { randomUUID } from 'node:crypto';
import t from 'tap';
import { SERVICE_OWNER } from '../../domain/owners.ts';
import { bootstrap, newAgent, newCredential, toAuthorization } from '../../harness/agent.ts';
import { addModerator, decide, type Moderator, submit } from '../../harness/moderation.ts';
import { revokeModerator } from '../../services/moderation/staff/moderators.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { type Service, startService } from '../support/service.ts';

const HOUSE = { code: 'house', title: 'House rules', text: 'Words of the lead', active: true };

/** Deletes the account of a new member with this id, and erases it. */
async function registerAndErase(service: Service, id: string) {
  const member = await newAgent(service, undefined, { id });
  const deletion = { confirm_handle: member.handle, erase_notes: true };
  const deleted = await member.call('POST', '/api/v1/me/delete', deletion);
  if (deleted.status !== 200) throw new Error(deleted.text);
  if ((await eraseMembers(service.core, { member_id: id })) !== 1) throw new Error('not erased');
}

async function changePolicy({ call }: Service, lead: Moderator, body: object) {
  const headers = { authorization: `Bearer ${lead.token}` };
  const answer = await call('PUT', '/api/moderation/policies', { headers, body });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** The types of the events that have words, by the end of their stream's name. */
async function withWords({ database }: Service, end: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ type: string }>(
    `SELECT type FROM events WHERE personal IS NOT NULL AND stream_id LIKE '%' || $1 ORDER BY position`,
    [end],
  );
  return rows.map(({ type }) => type);
}

t.test('keeps the policies when a member with the id of the service is erased', async (t) => {
  const service = await startService(t);
  const lead = await addModerator(service, 'Lea', 'lead');
  await changePolicy(service, lead, HOUSE);
  await registerAndErase(service, SERVICE_OWNER.id);
  t.same(await withWords(service, '-house'), ['PolicyChanged']);
  const { policies } = (await lead.get('policies')).body;
  t.match(policies.at(-1), HOUSE);
});

t.test('a member and a moderator with the same id share nothing', async (t) => {
  const service = await startService(t);
  const [ann, lea] = [await addModerator(service, 'Ann'), await addModerator(service, 'Lea')];
  const note = await submit(service);
  const headers = { authorization: `Bearer ${ann.token}`, 'idempotency-key': randomUUID() };
  const claim = { headers, body: { note_ids: [note.id] } };
  t.equal((await service.call('POST', '/api/moderation/claims', claim)).status, 200);
  t.equal((await decide(ann, note.id, 'approve')).status, 201);

  const member = await newAgent(service, undefined, { id: ann.id });
  const exported = (await member.call('GET', '/api/v1/me/export')).body;
  t.same(
    exported.receipts.map(({ operation }: { operation: string }) => operation),
    ['credential.bootstrap', 'membership.register'],
    "the export has none of the moderator's receipts",
  );
  const report = { subject: { type: 'note', id: note.id }, reason: 'spam' };
  t.equal((await member.call('POST', '/api/v1/reports', report)).status, 201);
  const { history } = (await lea.get(`notes/${note.id}`)).body;
  t.strictSame(
    history.map(({ type, actor }: { type: string; actor: object }) => [type, actor]),
    [
      ['NoteSubmitted', { type: 'guest' }],
      ['NoteApproved', { type: 'moderator', id: ann.id, name: 'Ann' }],
      ['NoteReported', { type: 'member', id: ann.id }],
    ],
    "the report does not bear the moderator's name",
  );

  const deletion = { confirm_handle: member.handle, erase_notes: true };
  t.equal((await member.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  t.equal(await eraseMembers(service.core), 1);
  t.equal((await ann.get('me')).status, 200, 'the token stays');
  t.same(await withWords(service, `moderator-${ann.id}`), ['ModeratorAdded']);
  const repeated = await service.call('POST', '/api/moderation/claims', claim);
  t.equal(repeated.headers.get('idempotency-replayed'), 'true', 'the receipt stays');
});

t.test('revoking a moderator leaves the keys of the member with the same id', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const { id, sign_in_key } = await newAgent(service, undefined, { id: ann.id });
  t.same(await revokeModerator(service.core, ann.id), { id });
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  t.equal(login.status, 200);
});

t.test(
  "keeps what moderators wrote on a guest's note under the id of an erased member",
  async (t) => {
    const service = await startService(t);
    const ann = await addModerator(service, 'Ann');
    // The moderator has the same id as well, so that only the kind of the actor tells them apart.
    const note = await submit(service, { id: ann.id, message: 'Words of a guest' });
    const comment = { text: 'Same person as in case 17' };
    t.equal((await ann.post(`subjects/note/${note.id}/comments`, comment)).status, 201);
    const rejection = {
      action: 'reject',
      policy: 'spam',
      expected_version: 1,
      message: 'No, sorry',
    };
    t.equal((await ann.post(`notes/${note.id}/decisions`, rejection)).status, 201);
    await registerAndErase(service, note.id);
    t.same(await withWords(service, `note-${note.id}`), [
      'NoteSubmitted',
      'CommentAdded',
      'NoteRejected',
    ]);
    t.match((await ann.get(`subjects/note/${note.id}/comments`)).body.comments, [
      { ...comment, actor: { type: 'moderator', id: ann.id, name: 'Ann' } },
    ]);
  },
);

t.test('a credential and a moderator with the same id have places of their own', async (t) => {
  const service = await startService(t, { LIMIT_WAITING_PER_CREDENTIAL: '1' });
  const ann = await addModerator(service, 'Ann');
  const member = await newAgent(service);
  const credential = { ...newCredential(), credential_id: ann.id };
  t.equal((await bootstrap(service, member, credential)).status, 201);
  const leaving = new AbortController();
  const poll = (path: string, authorization: string) =>
    fetch(`${service.baseUrl}${path}`, { headers: { authorization }, signal: leaving.signal });
  const stream = await poll('/api/moderation/stream', `Bearer ${ann.token}`);
  t.equal(stream.status, 200);
  const waits = await poll('/api/v1/updates?start=now&wait=1', toAuthorization(credential));
  t.equal(waits.status, 200, 'the poll waits although the moderator has a stream open');
  leaving.abort();
});
