import t from 'tap';
import { caseEventsWordedBy } from '../../projections/case-members.ts';
import {
  caseNotesOf,
  eraseCaseTexts,
  reviewsOf,
  submissionsOf,
} from '../../projections/case-record.ts';
import { casesOf as casesToExport } from '../../projections/cases.ts';
import { closingAppends, closingLoad, closingLock } from '../../services/cases/closing.ts';
import { query } from '../../services/postgres.ts';
import { newAgent } from '../harness/agent.ts';
import { casesOf, opened, pass } from '../harness/cases.ts';
import { type Service, startService } from '../harness/service.ts';

/** The part of a deletion that is about cases, then the deactivation itself. */
async function deactivate({ core }: Service, memberId: string) {
  const lock = closingLock(memberId);
  await core.store.execute({
    lock: {
      name: `${lock.name}-and-own`,
      text: `${lock.text} UNION ALL SELECT $${lock.values.length + 1}::uuid`,
      values: [...lock.values, memberId],
    },
    load: closingLoad(memberId),
    decide: ({ rows: [facts = [], members = []], now }) => ({
      answer: null,
      appends: [
        ...closingAppends(memberId, now, facts, members),
        {
          owner: memberId,
          stream: `member-${memberId}`,
          version: 1,
          actor: { type: 'member' as const, id: memberId },
          events: [{ type: 'MemberDeactivated', data: { erase_notes: false }, personal: null }],
        },
      ],
    }),
  });
}

const read = (service: Service, id: string) => service.call('GET', `/api/v1/cases/${id}`);

t.test(
  "with an author's account all own cases are gone, and those who had claimed are told",
  async (t) => {
    const service = await startService(t);
    const [author, ann] = [casesOf(await newAgent(service)), casesOf(await newAgent(service))];
    const open = await opened(author);
    const claimed = await opened(author);
    const lapsed = await opened(author);
    const accepted = await opened(author);
    for (const id of [claimed, lapsed, accepted]) await ann.claim(id, 1);
    await pass(service, lapsed, 3601);
    await ann.submit(accepted, 2);
    await author.review(accepted, 3, 'accept');
    await deactivate(service, author.agent.id);

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
    t.match(rows, [{ data: { reason: 'deactivated' } }, {}]);
  },
);

t.test(
  'what a member held of others is open again; the cases live on without the member',
  async (t) => {
    const service = await startService(t);
    const [author, ann, bob] = [
      casesOf(await newAgent(service)),
      casesOf(await newAgent(service)),
      casesOf(await newAgent(service)),
    ];
    const claimed = await opened(author);
    const submitted = await opened(author);
    await ann.claim(claimed, 1);
    await ann.claim(submitted, 1);
    await ann.submit(submitted, 2);
    await bob.note(claimed, 'Bob was here');
    await ann.note(claimed, 'Ann was here');
    await deactivate(service, ann.agent.id);

    t.match((await read(service, claimed)).body.case, { state: 'open', version: 3, claim: null });
    t.match((await read(service, submitted)).body.case, {
      state: 'open',
      version: 4,
      submission: null,
    });
    t.equal(
      (await bob.claim(claimed, 3)).status,
      200,
      'a former member is locked and told no more',
    );
    const last = await service.database.pool.query(
      `SELECT type FROM feed WHERE member_id = $1 ORDER BY sequence DESC LIMIT 1`,
      [ann.agent.id],
    );
    t.equal(last.rows[0].type, 'member.deactivated');
  },
);

t.test(
  'the words of a former member go from the log and the read models, and no others',
  async (t) => {
    const service = await startService(t);
    const [author, ann] = [casesOf(await newAgent(service)), casesOf(await newAgent(service))];
    const id = await opened(author);
    await ann.claim(id, 1);
    await ann.submit(id, 2, { summary: 'Words of Ann' });
    await author.review(id, 3, 'reject');
    await author.note(id, 'Words of the author');
    await ann.note(id, 'A note of Ann');
    const { pool } = service.core;
    const worded = await query<{ owner_id: string; stream_id: string; stream_version: number }>(
      pool,
      caseEventsWordedBy(ann.agent.id),
    );
    t.match(worded, [{ stream_id: `case-${id}`, stream_version: 3 }]);
    await deactivate(service, ann.agent.id);
    for (const { owner_id, stream_id, stream_version } of worded)
      await pool.query(
        `UPDATE events SET personal = NULL
        WHERE owner_id = $1 AND stream_id = $2 AND stream_version = $3`,
        [owner_id, stream_id, stream_version],
      );
    await pool.query('UPDATE events SET personal = NULL WHERE owner_id = $1', [ann.agent.id]);
    for (const statement of eraseCaseTexts(ann.agent.id)) await pool.query(statement);

    const { body } = await read(service, id);
    t.match(body.submissions, [{ member_id: ann.agent.id, summary: null }]);
    t.match(body.reviews, [{ comment: 'Seen' }]);
    t.match(body.notes, [{ message: 'Words of the author' }]);
    t.equal(body.notes.length, 1);
    t.notMatch(JSON.stringify(await pool.query('SELECT personal FROM events')), 'Ann');
    // That a rebuild honours it, every test's end asserts.
  },
);

t.test('an export reads all of a member in batches', async (t) => {
  const service = await startService(t);
  const [author, ann] = [casesOf(await newAgent(service)), casesOf(await newAgent(service))];
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) {
    const id = await opened(author);
    ids.push(id);
    await ann.claim(id, 1);
    await ann.submit(id, 2);
    await author.review(id, 3, 'accept');
    await ann.note(id, `Note ${count}`);
  }
  const { pool } = service.core;
  type Row = { id: string; case_id: string; created_at: Date };
  const first = await query<Row>(pool, casesToExport(author.agent.id, 2));
  const rest = await query<Row>(pool, casesToExport(author.agent.id, 2, first.at(-1)));
  t.same(
    [...first, ...rest].map((row) => row.case_id),
    ids,
  );
  for (const [reader, who] of [
    [submissionsOf, ann],
    [reviewsOf, author],
    [caseNotesOf, ann],
  ] as const) {
    const some = await query<Row>(pool, reader(who.agent.id, 2));
    const others = await query<Row>(pool, reader(who.agent.id, 2, some.at(-1)));
    t.same(
      [...some, ...others].map((row) => row.case_id),
      ids,
    );
    t.same(await query<Row>(pool, reader(who === ann ? author.agent.id : ann.agent.id, 2)), []);
  }
});
