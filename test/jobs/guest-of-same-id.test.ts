import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import { type Agent, newAgent } from '../../harness/agent.ts';
import { readCookie } from '../../harness/api.ts';
import { addModerator, decide, submit } from '../../harness/moderation.ts';
import { eraseMembers } from '../../workers/account/erase-member.ts';
import { screenNote } from '../../workers/screening/screen-note.ts';
import { matchAll } from '../support/match-all.ts';
import { type Service, startService } from '../support/service.ts';
import { tracesInTables } from '../support/traces.ts';

const newText = (what: string) => `${what} ${randomBytes(8).toString('hex')}`;

/** Submits a guest's note that is screened and approved. */
async function createGuestNote(service: Service, id: string) {
  const ann = await addModerator(service, 'Ann');
  const note = await submit(service, { id, name: 'Vic', message: newText('call +1 555 0100 or') });
  await screenNote(service.core, { note_id: id });
  await decide(ann, id, 'approve');
  return note;
}

const registerMember = (service: Service, id: string) => newAgent(service, undefined, { id });

async function login(service: Service, { id, sign_in_key }: Agent) {
  const body = { id, sign_in_key };
  return readCookie(await service.call('POST', '/api/membership/login', { body }));
}

async function deleteAccount(agent: Agent) {
  const body = { confirm_handle: agent.handle, erase_notes: true };
  const answer = await agent.call('POST', '/api/v1/me/delete', body);
  if (answer.status !== 200) throw new Error(answer.text);
}

async function eraseAccount(service: Service, agent: Agent) {
  await deleteAccount(agent);
  if ((await eraseMembers(service.core, { member_id: agent.id })) !== 1)
    throw new Error('the member was not erased');
}

const send = (service: Service, body: object) => service.call('POST', '/api/guestbook', { body });

for (const first of ['the note', 'the member'])
  t.test(`keeps a guest's note under a member's id when ${first} came first`, async (t) => {
    const service = await startService(t);
    const { pool } = service.database;
    const id = randomUUID();
    const early = first === 'the note' ? await createGuestNote(service, id) : undefined;
    const agent = await registerMember(service, id);
    const note = early ?? (await createGuestNote(service, id));
    const details = newText('Details');
    const reported = await service.call('POST', `/api/guestbook/${id}/report`, {
      body: { reason: 'spam', details },
      cookie: await login(service, agent),
    });
    t.equal(reported.status, 202);
    const { body } = await agent.call('GET', '/api/v1/me/export');
    t.same(body.notes, []);
    t.same(
      body.receipts.map(({ operation }: { operation: string }) => operation),
      ['credential.bootstrap', 'membership.register'],
    );

    await eraseAccount(service, agent);
    t.strictSame(await tracesInTables(pool, [agent.handle, details]), [], 'the member is erased');
    const { rows } = await pool.query(
      `SELECT type FROM events WHERE personal IS NOT NULL AND stream_id LIKE '%' || $1 ORDER BY type`,
      [id],
    );
    t.same(
      rows.map(({ type }) => type),
      ['NoteScreened', 'NoteSubmitted'],
      "the guest's note remains",
    );
    const shown = await service.call('GET', '/api/guestbook');
    matchAll(t, shown.body.entries, [{ id, name: 'Vic', message: note.message }]);
    t.match(await send(service, note), { status: 200, body: { status: 'published', id } });
    t.equal((await send(service, { ...note, message: 'Another' })).status, 409);
  });

t.test("accepts a guest's note under the id of a member that is being deleted", async (t) => {
  const service = await startService(t);
  const agent = await registerMember(service, randomUUID());
  await deleteAccount(agent);
  const note = await createGuestNote(service, agent.id);
  t.equal(await eraseMembers(service.core), 1);
  t.match(await send(service, note), { status: 200, body: { status: 'published' } });
});

t.test("erases a member's note under the own id and keeps the id used", async (t) => {
  const service = await startService(t);
  const agent = await registerMember(service, randomUUID());
  const { id, handle: member_handle } = agent;
  const message = newText('Mine');
  const note = { id, name: '', message, attribution: 'member', member_handle };
  await submit(service, note, await login(service, agent));
  const { body } = await agent.call('GET', '/api/v1/me/export');
  matchAll(
    t,
    body.receipts.map(({ operation }: { operation: string }) => operation),
    ['credential.bootstrap', 'guestbook.submit', 'membership.register'],
  );
  await eraseAccount(service, agent);
  t.strictSame(await tracesInTables(service.database.pool, [message]), []);
  const { rows } = await service.database.pool.query(
    'SELECT FROM receipts WHERE owner_id = $1 AND (reply IS NOT NULL OR bound IS NOT NULL)',
    [id],
  );
  t.equal(rows.length, 0);
  const answer = await send(service, { id, name: 'Vic', message });
  t.equal(answer.status, 409, answer.text);
  t.equal(answer.body.error.code, 'submission_conflict');
});
