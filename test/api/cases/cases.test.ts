import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { consent, createCaseCommands, createOpenCase, pass } from '../../../harness/cases.ts';
import { addModerator } from '../../../harness/moderation.ts';
import { brief } from '../../../harness/packets.ts';
import { matchAll } from '../../support/match-all.ts';
import { type Service, startService } from '../../support/service.ts';

const member = async (service: Service) => createCaseCommands(await newAgent(service));
const get = (service: Service, path: string, headers: Record<string, string> = {}) =>
  service.call('GET', `/api/v1/cases${path}`, { headers });

t.test('takes a case from opening to acceptance, and anybody can read each step', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [await member(service), await member(service), await member(service)];
  const created = await author.open({ title: ' Grüße 👋 ' });
  t.equal(created.status, 201);
  const { id } = created.body.case;
  t.match(created.body, {
    status: 'created',
    case: {
      author_id: author.agent.id,
      title: ' Grüße 👋 ',
      acceptance_criteria: ['A heap snapshot', 'A test'],
      artifact_id: null,
      state: 'open',
      version: 1,
      claim: null,
      submission: null,
    },
    receipt: { operation: 'case.create', member_id: author.agent.id, event_ids: [String] },
  });
  const read = await get(service, `/${id}`);
  t.equal(read.status, 200);
  t.same(read.body, {
    status: 'ok',
    case: created.body.case,
    submissions: [],
    reviews: [],
    notes: [],
  });

  const claimed = await ann.claim(id, 1);
  t.equal(claimed.status, 200);
  t.match(claimed.body.case, { state: 'claimed', version: 2, claim: { member_id: ann.agent.id } });
  const submitted = await ann.submit(id, 2);
  t.equal(submitted.status, 201);
  t.match(submitted.body.case, {
    state: 'submitted',
    version: 3,
    claim: null,
    submission: { member_id: ann.agent.id, summary: 'Done', artifact_id: null },
  });
  const advised = await bob.review(id, 3, 'accept');
  t.match(advised.body, { status: 'reviewed', case: { state: 'submitted', version: 3 } });
  const returned = await author.review(id, 3, 'request_changes');
  t.equal(returned.status, 201);
  t.match(returned.body.case, {
    state: 'claimed',
    version: 4,
    claim: { member_id: ann.agent.id },
    submission: null,
  });
  await ann.submit(id, 4, { summary: 'Better' });
  const noted = await bob.note(id);
  t.match(noted.body, { status: 'noted', case: { version: 5 } });
  const accepted = await author.review(id, 5, 'accept');
  t.match(accepted.body.case, { state: 'accepted', version: 6, submission: { summary: 'Better' } });

  const { body } = await get(service, `/${id}`);
  t.same(body.case, accepted.body.case);
  matchAll(t, body.submissions, [{ summary: 'Better' }, { summary: 'Done' }]);
  matchAll(t, body.reviews, [
    { decision: 'accept', binding: true, member_id: author.agent.id },
    { decision: 'request_changes', binding: true, submission_id: body.submissions[1].id },
    { decision: 'accept', binding: false, member_id: bob.agent.id, comment: 'Seen' },
  ]);
  matchAll(t, body.notes, [{ member_id: bob.agent.id, message: 'A word' }]);

  // Each member's feed starts with its first part in the case.
  const { rows } = await service.database.pool.query(
    `SELECT member_id, array_agg(substr(type, 6) ORDER BY sequence) AS types
      FROM feed WHERE subject_id = $1 GROUP BY member_id`,
    [id],
  );
  const typesOf = (who: typeof ann) =>
    rows.find((row) => row.member_id === who.agent.id)?.types.join(' ');
  const end = 'reviewed reviewed returned submitted noted reviewed accepted';
  t.equal(typesOf(author), `opened claimed submitted ${end}`);
  t.equal(typesOf(ann), `claimed submitted ${end}`);
  t.equal(typesOf(bob), end);
});

t.test('releases, rejects and withdraws a case, which then refuses notes', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [await member(service), await member(service), await member(service)];
  const id = await createOpenCase(author);
  await bob.note(id);
  await ann.claim(id, 1);
  t.match((await ann.release(id, 2)).body, {
    status: 'released',
    case: { state: 'open', version: 3, claim: null },
  });
  await ann.claim(id, 3, { lease_seconds: 86_400 });
  await ann.submit(id, 4);
  t.match((await author.review(id, 5, 'reject')).body.case, { state: 'open', submission: null });
  const withdrawn = await author.withdraw(id, 6);
  t.equal(withdrawn.status, 200);
  t.match(withdrawn.body, { status: 'withdrawn', case: { state: 'withdrawn', version: 7 } });
  t.match((await get(service, `/${id}`)).body.case, { state: 'withdrawn' });
  t.match((await ann.note(id)).body.error, { reason: 'wrong_state', current_state: 'withdrawn' });
  const { events } = (await bob.agent.call('GET', '/api/v1/updates')).body;
  const types = events.map(({ type }: { type: string }) => type.split('.'));
  t.same(
    types.filter(([of]: string[]) => of === 'case').map(([, what]: string[]) => what),
    'noted claimed released claimed submitted reviewed rejected withdrawn'.split(' '),
    'a member who noted a case follows it in the feed',
  );
});

t.test('reads a case with a lapsed lease as open before the log records it', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [await member(service), await member(service), await member(service)];
  const id = await createOpenCase(author);
  await ann.claim(id, 1, { lease_seconds: 300 });
  const listed = async (state: string) =>
    (await get(service, `?state=${state}`)).body.cases.map((one: { id: string }) => one.id);
  t.same([await listed('claimed'), await listed('open')], [[id], []]);
  await pass(service, id, 301);
  const before = await get(service, `/${id}`);
  t.match(before.body.case, { state: 'open', version: 3, claim: null });
  t.same([await listed('claimed'), await listed('open')], [[], [id]]);
  const own = await get(service, `?author_id=${author.agent.id}&state=open`);
  t.same(own.body.cases, [before.body.case]);
  t.same((await get(service, '')).body.cases, [before.body.case]);
  const { cases } = (await author.agent.call('GET', '/api/v1/me/export')).body;
  const { state, version, updated_at } = before.body.case;
  matchAll(t, cases, [{ id, state, version, updated_at }]);
  t.equal((await ann.submit(id, 2)).body.error.reason, 'lease_expired');
  t.equal((await ann.release(id, 3)).body.error.reason, 'lease_expired');

  // A note on the case changes nothing, but records the end of the lease first.
  const noted = await bob.note(id);
  t.same(noted.body.case, before.body.case);
  const after = await get(service, `/${id}`);
  t.same(after.body.case, before.body.case);
  t.same([await listed('claimed'), await listed('open')], [[], [id]]);
  const { rows } = await service.database.pool.query(
    `SELECT type, actor FROM events WHERE type IN ('CaseLeaseEnded', 'CaseNoted') ORDER BY position`,
  );
  matchAll(t, rows, [{ actor: { type: 'service' } }, { actor: { id: bob.agent.id } }]);
  const { events } = (await bob.agent.call('GET', '/api/v1/updates')).body;
  matchAll(t, events.slice(-2), [{ type: 'case.lease_ended' }, { type: 'case.noted' }]);
  const ids = events.slice(-2).map((event: { id: string }) => event.id);
  t.same(noted.body.receipt.event_ids, ids, 'the feed lists every event of the receipt');
  t.equal(
    (await ann.submit(id, 3)).body.error.reason,
    'lease_expired',
    'still expired once the log records the end',
  );
  t.match((await bob.claim(id, 3)).body.case, { version: 4, claim: { member_id: bob.agent.id } });

  await pass(service, id, 3601);
  const taken = await ann.claim(id, 5);
  t.match(taken.body.case, { state: 'claimed', version: 6, claim: { member_id: ann.agent.id } });
  t.equal(taken.body.receipt.event_ids.length, 2);
});

t.test('marks the extension of a claim in the feed', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await member(service), await member(service)];
  const id = await createOpenCase(author);
  await ann.claim(id, 1, { lease_seconds: 300 });
  t.equal((await ann.claim(id, 2, { lease_seconds: 600 })).status, 200);
  const { events } = (await author.agent.call('GET', '/api/v1/updates')).body;
  t.same(
    events
      .filter(({ type }: { type: string }) => type === 'case.claimed')
      .map(({ data: { member_id, extended } }: { data: Record<string, unknown> }) => [
        member_id,
        extended,
      ]),
    [
      [ann.agent.id, undefined],
      [ann.agent.id, true],
    ],
  );
});

t.test('refuses a command with the wrong state, role, version or artifact', async (t) => {
  const service = await startService(t);
  const [author, ann, bob] = [await member(service), await member(service), await member(service)];
  const id = await createOpenCase(author);
  const refused = async (answer: ReturnType<typeof ann.claim>, error: object) => {
    const { status, body } = await answer;
    t.equal(status, 409, JSON.stringify(error));
    t.match(body, { status: 'state_conflict', error: { code: 'state_conflict', ...error } });
  };
  const artifact_id = randomUUID();
  await refused(author.open({ artifact_id }), { reason: 'artifact_unavailable' });
  await refused(author.claim(id, 1), {
    reason: 'own_case',
    message: 'You cannot claim your own case.',
  });
  await refused(ann.claim(id, 2), { reason: 'version_mismatch', current_version: 1 });
  await refused(ann.withdraw(id, 1), { reason: 'not_author' });
  for (const answer of [ann.release(id, 1), ann.submit(id, 1), author.review(id, 1, 'accept')])
    await refused(answer, { reason: 'wrong_state', current_state: 'open' });
  await ann.claim(id, 1);
  await refused(bob.claim(id, 2), { reason: 'wrong_state', current_state: 'claimed' });
  await refused(bob.release(id, 2), { reason: 'not_claimant' });
  await refused(bob.submit(id, 2), { reason: 'not_claimant' });
  await refused(author.withdraw(id, 2), { reason: 'wrong_state', current_state: 'claimed' });
  await refused(ann.submit(id, 2, { artifact_id }), { reason: 'artifact_unavailable' });
  await ann.submit(id, 2);
  await refused(ann.review(id, 3, 'accept'), { reason: 'own_submission' });
  await refused(author.review(id, 2, 'accept'), { reason: 'version_mismatch', current_version: 3 });
  t.match((await get(service, `/${id}`)).body.case, { state: 'submitted', version: 3 });
});

t.test('lists cases newest first, by cursor, state and author, with an ETag', async (t) => {
  const service = await startService(t);
  const [author, other] = [await member(service), await member(service)];
  const ids: string[] = [];
  for (let count = 0; count < 7; count++)
    ids.unshift(await createOpenCase(count % 2 ? other : author, { title: `Case ${count}` }));
  await author.withdraw(ids[0] ?? '', 1);
  const readAllPages = async (query: string) => {
    const found: string[] = [];
    for (let cursor = ''; ; ) {
      const { status, body } = await get(service, `?limit=2${query}${cursor}`);
      t.equal(status, 200);
      t.ok(body.cases.length <= 2);
      found.push(...body.cases.map((one: { id: string }) => one.id));
      if (body.next_cursor === null) return found;
      cursor = `&cursor=${body.next_cursor}`;
    }
  };
  t.same(await readAllPages(''), ids);
  t.same(await readAllPages('&state=open'), ids.slice(1));
  t.same(await readAllPages('&state=withdrawn'), ids.slice(0, 1));
  t.same(await readAllPages('&state=accepted'), []);
  t.same(
    await readAllPages(`&author_id=${other.agent.id}`),
    ids.filter((_, index) => index % 2),
  );
  t.same(await readAllPages(`&author_id=${author.agent.id.toUpperCase()}&state=open`), [
    ids[2],
    ids[4],
    ids[6],
  ]);
  for (const path of ['', `/${ids[1]}`]) {
    const first = await get(service, path);
    const etag = first.headers.get('etag') ?? '';
    t.equal(first.headers.get('cache-control'), 'public, max-age=0, must-revalidate');
    t.equal(first.headers.get('access-control-allow-origin'), '*');
    t.equal((await get(service, path, { 'if-none-match': etag })).status, 304);
    if (path) await other.note(ids[1] ?? '');
    else await createOpenCase(author);
    t.equal((await get(service, path, { 'if-none-match': etag })).status, 200);
  }
});

t.test('shows artifacts of cases while public, and counts cases of agents', async (t) => {
  const service = await startService(t);
  const [author, ann] = [await member(service), await member(service)];
  const publish = async (member: typeof ann) => {
    const answer = await member.agent.call('POST', '/api/v1/artifacts', brief());
    return answer.body.artifact.id as string;
  };
  const [input, output] = [await publish(author), await publish(ann)];
  const created = await author.open({ artifact_id: input });
  t.equal(created.body.case.artifact_id, input);
  const { id } = created.body.case;
  await ann.claim(id, 1);
  const submitted = await ann.submit(id, 2, { artifact_id: output });
  t.equal(submitted.body.case.submission.artifact_id, output);
  await author.review(id, 3, 'accept');
  const withdraw = await ann.agent.call('POST', `/api/v1/artifacts/${output}/withdraw`, {});
  t.equal(withdraw.status, 200);
  const refused = await author.open({ artifact_id: output });
  t.equal(refused.body.error.reason, 'artifact_unavailable');
  t.equal(
    (await get(service, `/${id}`)).body.case.submission.artifact_id,
    output,
    'an accepted submission keeps its artifact',
  );

  for (const [who, counts] of [
    [author, { artifacts: 1, cases_opened: 1, cases_accepted: 0 }],
    [ann, { artifacts: 0, cases_opened: 0, cases_accepted: 1 }],
  ] as const) {
    const profile = {
      display_name: 'A',
      summary: 'B',
      links: [],
      capabilities: [],
      ...consent,
    };
    await who.agent.call('POST', '/api/v1/me/profile', profile);
    const agent = await service.call('GET', `/api/v1/agents/${who.agent.id}`);
    t.match(agent.body.agent.counts, counts);
  }
  const activity = await service.call('GET', '/api/v1/activity');
  const mod = await addModerator(service, 'Mod');
  const removal = { action: 'remove', policy: 'spam', expected_version: 4 };
  t.equal((await mod.post(`subjects/case/${id}/decisions`, removal)).status, 201);
  for (const who of [author, ann]) {
    const agent = await service.call('GET', `/api/v1/agents/${who.agent.id}`);
    const none = { cases_opened: 0, cases_accepted: 0 };
    t.match(agent.body.agent.counts, none, 'removed cases do not count');
  }
  matchAll(
    t,
    activity.body.entries.map(({ type, title }: { type: string; title: string }) => [type, title]),
    [
      ['profile.published', 'A'],
      ['profile.published', 'A'],
      ['case.accepted', 'Find the leak'],
      ['case.submitted', 'Find the leak'],
      ['case.claimed', 'Find the leak'],
      ['case.opened', 'Find the leak'],
      ['artifact.published', brief().title],
    ],
  );
});

t.test('ends a page of long cases early, and loses none of them', async (t) => {
  const service = await startService(t, { LIMIT_WRITES_PER_DAY: '1000' });
  const author = createCaseCommands(await newAgent(service));
  const acceptance_criteria = Array.from({ length: 30 }, () => '界'.repeat(500));
  const ids: string[] = [];
  for (let n = 0; n < 25; n++) ids.unshift(await createOpenCase(author, { acceptance_criteria }));
  const pages: string[][] = [];
  for (let path: string | null = '/api/v1/cases?limit=100'; path; ) {
    const { body, text, headers } = await service.call('GET', path);
    t.ok(Buffer.byteLength(text) < 600_000, 'a page of at most 512 KiB of texts');
    pages.push(body.cases.map(({ id }: { id: string }) => id));
    t.equal(body.has_more, headers.get('link') !== null);
    path = body.next_cursor && `/api/v1/cases?limit=100&cursor=${body.next_cursor}`;
  }
  t.same(pages.flat(), ids);
  t.same(
    pages.map(({ length }) => length),
    [11, 11, 3],
  );
});
