import { randomUUID } from 'node:crypto';
import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import { assertRebuilt } from '../../../harness/rebuilt.ts';
import { publishArtifact, report } from '../../../harness/records.ts';
import { packetOf, rejectedNoteOf } from '../../../harness/records-of-member.ts';
import { FIRST_BATCH } from '../../../services/account-closure.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { type Service, startService } from '../../support/service.ts';

/** Records of each kind that are newer than those that the test looks at. */
const NEWER = 500;
/** Records of each kind that one command adds, within its deadline also on a busy machine. */
const ADDED = 50;

/** Adds a member's packets and rejected notes. */
async function fill({ core }: Service, { id }: Agent): Promise<void> {
  for (let added = 0; added < NEWER; added += ADDED) {
    const ids = Array.from({ length: ADDED }, () => randomUUID() as string);
    await core.store.execute({
      lock: [id],
      load: null,
      decide: () => ({
        answer: null,
        appends: [
          ...ids.map((one) => packetOf(id, one, 'Old')),
          ...ids.map((one) => rejectedNoteOf(id, one, 'Old')),
        ],
      }),
    });
  }
}

const remove = { action: 'remove', policy: 'spam', message: 'No' };

/** Creates a member with more records than a batch, and returns the oldest of each kind by name. */
async function createBusyMember(service: Service, [ann, bob]: readonly [Moderator, Moderator]) {
  const agent = await newAgent(service);
  const { id, sign_in_key, handle } = agent;
  const login = { body: { id, sign_in_key } };
  const cookie = readCookie(await service.call('POST', '/api/membership/login', login));
  const write = async (message: string) => {
    const more = { name: '', message, attribution: 'member', member_handle: handle };
    return (await submit(service, more, cookie)).id;
  };
  const notes = {
    approved: await write('Zanzibar'),
    pending: await write('It waits'),
    rejected: await write('Refused'),
    removed: await write('Taken down'),
    appealed: await write('Refused too'),
  };
  await decide(ann, notes.approved, 'approve');
  await decide(ann, notes.removed, 'approve');
  await ann.post(`notes/${notes.removed}/decisions`, { ...remove, expected_version: 2 });
  const rejection = (await decide(ann, notes.rejected, 'reject')).body.event_id;
  await decide(ann, notes.appealed, 'reject');
  const appeal = { body: { text: 'Please' }, cookie };
  const path = `/api/guestbook/${notes.appealed}/appeal`;
  if ((await service.call('POST', path, appeal)).status !== 202)
    throw new Error('the appeal was refused');

  const shown = await publishArtifact(agent, 'Zanzibar');
  const hidden = await publishArtifact(agent, 'Hidden');
  await bob.post(`subjects/artifact/${hidden.id}/decisions`, { ...remove, expected_version: 1 });
  await fill(service, agent);
  return { agent, notes, rejection, shown, hidden };
}

for (const everything of [false, true])
  t.test(
    `deletes a member with more records than a batch, ${everything ? 'public notes included' : 'except public notes'}`,
    async (t) => {
      const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
      const { pool } = service.database;
      const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
      const lead = await addModerator(service, 'Lea', 'lead');
      const reader = await newAgent(service);
      const { agent, notes, rejection, shown, hidden } = await createBusyMember(service, [
        ann,
        bob,
      ]);
      await report(reader, { type: 'note', id: notes.approved });
      await report(reader, shown);
      const readNotices = async (type: string) =>
        (
          await pool.query('SELECT data FROM feed WHERE member_id = $1 AND type = $2', [
            reader.id,
            type,
          ])
        ).rows.map(({ data }) => data);
      const deletion = { confirm_handle: agent.handle, erase_notes: everything };
      t.equal((await agent.call('POST', '/api/v1/me/delete', deletion)).status, 200);

      const read = async (path: string) => (await service.call('GET', path)).body;
      t.same((await read('/api/v1/artifacts')).artifacts, []);
      t.same((await read(`/api/v1/artifacts?author_id=${agent.id}&kind=brief`)).artifacts, []);
      for (const { path } of [shown, hidden])
        t.equal((await service.call('GET', path)).status, 410, path);
      t.equal((await report(reader, { type: 'artifact', id: hidden.id })).status, 404);
      const remaining = everything ? [] : [{ id: notes.approved, name: 'former member' }];
      const { entries } = await read('/api/guestbook');
      t.match(entries, remaining);
      t.equal(entries.length, remaining.length);
      const activity = (await read('/api/v1/activity')).entries;
      t.same(
        activity.map(({ subject }: { subject: object }) => subject),
        everything ? [] : [{ type: 'note', id: notes.approved }],
      );
      const found = await service.call('POST', '/mcp', {
        headers: { accept: 'application/json, text/event-stream' },
        body: {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'search_public', arguments: { query: 'zanzibar' } },
        },
      });
      t.equal(found.status, 200, found.text);
      const ids = [notes.approved, shown.id].filter((id) => found.text.includes(id));
      t.same(ids, everything ? [] : [notes.approved]);
      const note = { type: 'note', id: notes.approved };
      const again = await newAgent(service);
      t.equal((await report(again, note)).status, everything ? 404 : 201);

      for (const view of ['todo', 'appeals'])
        t.same((await lead.get(`queue?view=${view}`)).body.items, [], view);
      const refused = async (path: string, body: object) => {
        const answer = await lead.post(path, body);
        t.match(answer.body.error, { code: 'state_conflict', reason: 'wrong_state' }, path);
      };
      const decided = (id: string, action: string, expected_version: number) =>
        refused(`notes/${id}/decisions`, { action, expected_version });
      await decided(notes.pending, 'approve', 1);
      await decided(notes.removed, 'restore', 3);
      await decided(notes.appealed, 'grant', 3);
      await refused(`decisions/${rejection}/undo`, { expected_version: 2 });
      const restore = { action: 'restore', expected_version: 2 };
      await refused(`subjects/artifact/${hidden.id}/decisions`, restore);
      await refused(`subjects/artifact/${shown.id}/decisions`, { ...remove, expected_version: 2 });
      await assertRebuilt(service.database.pool);

      t.equal(await eraseMembers(service.core, { member_id: agent.id }), 1);
      const { rows } = await pool.query(
        `SELECT type, actor->>'type' AS by, count(*)::int FROM events
         WHERE type IN ('ArtifactWithdrawn', 'NoteErased', 'NoteWithdrawn')
         GROUP BY 1, 2 ORDER BY 1, 2`,
      );
      t.same(rows, [
        { type: 'ArtifactWithdrawn', by: 'member', count: FIRST_BATCH },
        { type: 'ArtifactWithdrawn', by: 'service', count: NEWER + 2 - FIRST_BATCH },
        { type: 'NoteErased', by: 'member', count: FIRST_BATCH },
        { type: 'NoteErased', by: 'service', count: NEWER + (everything ? 5 : 4) - FIRST_BATCH },
        { type: 'NoteWithdrawn', by: 'member', count: everything ? 2 : 1 },
      ]);
      await assertRebuilt(service.database.pool);
      const outcome = { outcome: 'withdrawn', subject: note };
      t.match(await readNotices('report.resolved'), everything ? [outcome] : []);
    },
  );
