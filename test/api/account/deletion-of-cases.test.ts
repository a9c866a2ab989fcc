import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { memberOwner } from '../../../domain/owners.ts';
import { newAgent } from '../../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../../harness/cases.ts';
import type { Append } from '../../../platform/eventstore/append.ts';
import { CLOSURE_BATCH, FIRST_BATCH } from '../../../services/account-closure.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { countLockWaits, whileWaitingForLock } from '../../support/meanwhile.ts';
import { type Service, startService } from '../../support/service.ts';

t.test("hides a deleted member's cases immediately and withdraws them in batches", async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const agent = await newAgent(service);
  const { id } = agent;
  const ids = Array.from({ length: CLOSURE_BATCH + FIRST_BATCH }, () => randomUUID() as string);
  const opened = (case_id: string) => ({
    type: 'CaseOpened',
    data: { case_id, author_id: id, artifact_id: null, policy_version: 'service-public-v1' },
    personal: { title: 'T', summary: 'S', objective: 'O', acceptance_criteria: ['A'] },
  });
  const appends = ids.map((case_id) => ({
    owner: memberOwner(id),
    stream: `case-${case_id}`,
    version: 0,
    actor: { type: 'member' as const, id },
    events: [opened(case_id)] as Append['events'],
  }));
  await service.core.store.execute({
    lock: [id],
    load: null,
    decide: () => ({ answer: null, appends }),
  });
  const deletion = { confirm_handle: agent.handle, erase_notes: false };
  t.equal((await agent.call('POST', '/api/v1/me/delete', deletion)).status, 200);
  const countWithdrawn = async () =>
    (await service.database.pool.query(`SELECT FROM events WHERE type = 'CaseWithdrawn'`)).rowCount;
  t.equal(await countWithdrawn(), FIRST_BATCH, 'the deletion withdraws the first batch');
  t.same((await service.call('GET', '/api/v1/cases')).body.cases, []);
  const answers = await Promise.all(ids.map((one) => service.call('GET', `/api/v1/cases/${one}`)));
  t.ok(answers.every(({ status }) => status === 410));
  t.equal(await eraseMembers(service.core, { member_id: id }), 1);
  t.equal(await countWithdrawn(), ids.length);
});

t.test('reopens a case that was claimed just before its claimant left', async (t) => {
  // As a batch, the claim would wait for 200 ms only, and leave its locks before it runs alone.
  const service = await startService(t, { GROUP_COMMIT: 'off' });
  const { pool } = service.database;
  const ann = createCaseCommands(await newAgent(service));
  const agent = await newAgent(service);
  const id = await createOpenCase(ann);
  let deletion: ReturnType<typeof agent.call> | undefined;
  const claim = await whileWaitingForLock(
    pool,
    `SELECT FROM feed_heads WHERE member_id = '${agent.id}' FOR UPDATE`,
    () => createCaseCommands(agent).claim(id, 1),
    async () => {
      // The deletion looks for claims before it waits for the lock behind the claim.
      const body = { confirm_handle: agent.handle, erase_notes: false };
      deletion = agent.call('POST', '/api/v1/me/delete', body);
      while ((await countLockWaits(pool)) < 2) await sleep(10);
    },
  );
  t.equal(claim.status, 200, claim.text);
  t.equal((await deletion)?.status, 200);
  const { body } = await service.call('GET', `/api/v1/cases/${id}`);
  t.match(body.case, { state: 'open', claim: null });
});

/** Another member's accepted case, with a submission, a review and a note by the agent. */
async function contributeToCase(service: Service) {
  const [ann, bob, agent] = [
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
    createCaseCommands(await newAgent(service)),
  ];
  const id = await createOpenCase(ann);
  await bob.claim(id, 1);
  await bob.submit(id, 2);
  await agent.review(id, 3, 'reject');
  await ann.review(id, 3, 'reject');
  await agent.claim(id, 4);
  await agent.submit(id, 5);
  await ann.review(id, 6, 'accept');
  await agent.note(id);
  const deletion = { confirm_handle: agent.agent.handle };
  const remove = () => agent.agent.call('POST', '/api/v1/me/delete', deletion);
  return { id, ann, remove, read: () => service.call('GET', `/api/v1/cases/${id}`) };
}

t.test("removes a deleted member's texts from the cases of others", async (t) => {
  const service = await startService(t);
  const { id, ann, remove, read } = await contributeToCase(service);
  t.match((await read()).body, {
    case: { state: 'accepted', submission: { summary: 'Done' } },
    submissions: [{ summary: 'Done' }, { summary: 'Done' }],
    reviews: [{ comment: 'Seen' }, { comment: 'Seen' }, { comment: 'Seen' }],
    notes: [{ message: 'A word' }],
  });
  t.equal((await remove()).status, 200);
  const withoutSummary = { state: 'accepted', version: 7, submission: { summary: null } };
  t.match((await read()).body, {
    case: withoutSummary,
    submissions: [{ summary: null }, { summary: 'Done' }],
    reviews: [{ comment: 'Seen' }, { comment: 'Seen' }, { comment: null }],
    notes: [],
  });
  t.match((await service.call('GET', '/api/v1/cases')).body.cases, [withoutSummary]);
  t.match((await ann.note(id)).body.case, withoutSummary);
});
