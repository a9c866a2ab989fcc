import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase, pass } from '../../../harness/cases.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { publishCase, publishCaseNote, report } from '../../../harness/records.ts';
import { query } from '../../../platform/postgres/query.ts';
import type { Sql } from '../../../platform/sql.ts';
import { caseNotes, caseReviews, caseSubmissions } from '../../../projections/cases/case-record.ts';
import { casesOfMember as casesToExport } from '../../../projections/cases/cases.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { settleReports } from '../../../workers/moderation/notify-removal.ts';
import { matchAll } from '../../support/match-all.ts';
import { readFeed } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

const deleteAccount = async ({ call, handle }: Agent) =>
  (await call('POST', '/api/v1/me/delete', { confirm_handle: handle })).status;

const read = (service: Service, id: string) => service.call('GET', `/api/v1/cases/${id}`);

t.test("withdraws a deleted author's cases and notifies members who claimed them", async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const open = await createOpenCase(author);
  const claimed = await createOpenCase(author);
  const lapsed = await createOpenCase(author);
  const accepted = await createOpenCase(author);
  for (const id of [claimed, lapsed, accepted]) await ann.claim(id, 1);
  await pass(service, lapsed, 3601);
  await ann.submit(accepted, 2);
  await author.review(accepted, 3, 'accept');
  t.equal(await deleteAccount(author.agent), 200);

  for (const id of [open, claimed, lapsed, accepted]) {
    t.equal((await read(service, id)).status, 410);
    t.equal((await ann.note(id)).status, 410);
  }
  t.same((await service.call('GET', '/api/v1/cases')).body.cases, []);
  t.same((await service.call('GET', '/api/v1/activity')).body.entries, []);
  const states = await service.database.pool.query(
    'SELECT case_id, state FROM cases ORDER BY created_at',
  );
  t.same(
    states.rows.map(({ state }) => state),
    ['withdrawn', 'withdrawn', 'withdrawn', 'accepted'],
  );
  const { rows } = await service.database.pool.query(
    `SELECT subject_id, data FROM feed WHERE type = 'case.withdrawn' AND member_id = $1
      ORDER BY sequence`,
    [ann.agent.id],
  );
  t.same(rows.map(({ subject_id }) => subject_id).sort(), [claimed, lapsed].sort());
  matchAll(t, rows, [{ data: { reason: 'deactivated' } }, {}]);
});

t.test('resolves reports on case notes when their author or the case is deleted', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [author, ann, bob] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  const [mod, lead] = [
    await addModerator(service, 'Mod'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const { id: caseId } = await publishCase(author);
  const note = await publishCaseNote(ann, caseId);
  const removed = await publishCaseNote(ann, caseId);
  const annsCaseId = (await publishCase(ann)).id;
  const other = await publishCaseNote(ann, annsCaseId);
  const leaver = await newAgent(service);
  const leaversNote = await publishCaseNote(leaver, annsCaseId);
  for (const one of [note, removed, other, leaversNote])
    t.equal((await report(bob, one, { details: 'Look' })).status, 201);
  const pathOf = ({ id }: { id: string }) => `subjects/case_note/${id}`;
  const removal = { action: 'remove', policy: 'spam', expected_version: 2 };
  const decided = await mod.post(`${pathOf(removed)}/decisions`, removal);
  t.equal(decided.status, 201, decided.text);
  t.equal(await deleteAccount(author), 200);
  t.equal(await deleteAccount(leaver), 200);

  const undo = { expected_version: 3 };
  t.equal((await lead.post(`decisions/${decided.body.event_id}/undo`, undo)).status, 201);
  for (const gone of [note, leaversNote]) {
    const { item } = (await mod.get(pathOf(gone))).body;
    t.match(item, { state: 'withdrawn', public: false, allowed_actions: [] });
    const late = await mod.post(`${pathOf(gone)}/decisions`, removal);
    t.match(late.body.error, { code: 'state_conflict', reason: 'wrong_state' });
  }
  t.equal(
    await settleReports(service.core),
    2,
    'those on the leaver were settled with the account',
  );
  t.equal(await settleReports(service.core), 0, 'a second run settles nothing');
  const { items, counts } = (await mod.get('queue?view=reported')).body;
  matchAll(t, items, [{ id: other.id }]);
  t.equal(counts.reported, 1);
  const notices = (await readFeed(service, bob.id)).filter(
    ({ type }) => type === 'report.resolved',
  );
  matchAll(
    t,
    notices.map(({ data }) => data as { subject: { id: string } }),
    [{ outcome: 'withdrawn' }, { outcome: 'withdrawn' }, { outcome: 'withdrawn' }],
  );
  t.same(
    notices.map(({ data }) => (data as { subject: { id: string } }).subject.id).sort(),
    [note.id, removed.id, leaversNote.id].sort(),
  );
});

t.test('reopens the cases that a deleted member had claimed', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const claimed = await createOpenCase(author);
  const submitted = await createOpenCase(author);
  await ann.claim(claimed, 1);
  await ann.claim(submitted, 1);
  await ann.submit(submitted, 2);
  await bob.note(claimed, 'Bob was here');
  await ann.note(claimed, 'Ann was here');
  t.equal(await deleteAccount(ann.agent), 200);

  t.match((await read(service, claimed)).body.case, { state: 'open', version: 3, claim: null });
  t.match((await read(service, submitted)).body.case, {
    state: 'open',
    version: 4,
    submission: null,
  });
  t.equal(
    (await bob.claim(claimed, 3)).status,
    200,
    'other members go on without the former member',
  );
  const last = await service.database.pool.query(
    `SELECT type FROM feed WHERE member_id = $1 ORDER BY sequence DESC LIMIT 1`,
    [ann.agent.id],
  );
  t.equal(last.rows[0].type, 'member.deactivated');
});

t.test('erases only the texts of a deleted member, from log and read models', async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const id = await createOpenCase(author);
  await ann.claim(id, 1);
  await ann.submit(id, 2, { summary: 'Words of Ann' });
  await author.review(id, 3, 'reject');
  await author.note(id, 'Words of the author');
  await ann.note(id, 'A note of Ann');
  t.equal(await deleteAccount(ann.agent), 200);
  await eraseMembers(service.core);

  const { body } = await read(service, id);
  matchAll(t, body.submissions, [{ member_id: ann.agent.id, summary: null }]);
  matchAll(t, body.reviews, [{ comment: 'Seen' }]);
  t.match(body.notes, [{ message: 'Words of the author' }]);
  t.equal(body.notes.length, 1);
  const { rows } = await service.database.pool.query('SELECT personal FROM events');
  t.notMatch(JSON.stringify(rows), 'Ann');
  t.match(JSON.stringify(rows), 'Words of the author');
  // Each test ends by checking that a rebuild agrees.
});

t.test("reads a member's case records for an export in batches", async (t) => {
  const service = await startService(t);
  const [author, ann] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    const id = await createOpenCase(author);
    ids.push(id);
    await ann.claim(id, 1);
    await ann.submit(id, 2);
    await author.review(id, 3, 'accept');
    await ann.note(id, `Note ${count}`);
  }
  const { pool } = service.core;
  type Row = { id: string; case_id: string; place: string };
  const readBatches = async (reader: typeof casesToExport, memberId: string) => {
    const first: Row[] = await query(pool, reader(memberId, 2, undefined, 0) as Sql<Row>);
    const last = first.at(-1);
    if (!last) return [];
    const after = { at: last.place, id: last.id };
    const rest = await query(pool, reader(memberId, 2, after, 0) as Sql<Row>);
    return [...first, ...rest].map((row) => row.case_id ?? row.id);
  };
  t.same(await readBatches(casesToExport, author.agent.id), ids);
  t.same(await readBatches(caseSubmissions, ann.agent.id), ids);
  t.same(await readBatches(caseReviews, author.agent.id), ids);
  t.same(await readBatches(caseNotes, ann.agent.id), ids);
  for (const reader of [caseSubmissions, caseNotes])
    t.same(await readBatches(reader, author.agent.id), []);
  t.same(await readBatches(casesToExport, ann.agent.id), []);
});
