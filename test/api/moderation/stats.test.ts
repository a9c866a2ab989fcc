import { randomUUID } from 'node:crypto';
import t from 'tap';
import { newAgent } from '../../../harness/agent.ts';
import { addModerator, decide, submit } from '../../../harness/moderation.ts';
import { publishArtifact, publishCase, report } from '../../../harness/records.ts';
import { figuresOfNotes } from '../../../projections/moderation/decision-figures.ts';
import { arrivalsByHour, decisionsIn } from '../../../projections/moderation/review-stats.ts';
import { matchAll } from '../../support/match-all.ts';
import { type Service, startService } from '../../support/service.ts';

const NO_DECISIONS = { decisions: 0, overturned: 0, overturn_rate: null, age_seconds: null };

/** Inserts an old note and its decisions into the read models. */
async function insertPastNote(
  service: Service,
  note: {
    arrived: string;
    state: string;
    findings?: string[];
    decisions: [
      decision: string,
      at: string,
      by: string | null,
      claimed?: string | null,
      undone?: string,
    ][];
  },
) {
  const id = randomUUID();
  await service.tamper(
    `INSERT INTO notes (note_id, owner_id, experience, attribution, state, version, submitted_at)
     VALUES ($1, $1, 'service', 'guest', $2, 1, $3)`,
    [id, note.state, note.arrived],
  );
  for (const [decision, at, by, claimed = null, undone = null] of note.decisions)
    await service.tamper(
      `INSERT INTO note_decisions (event_id, note_id, version, moderator_id, decision, decided_at,
         claimed_at, undone_at) VALUES (gen_random_uuid(), $1, 2, $2, $3, $4, $5, $6)`,
      [id, by, decision, at, claimed, undone],
    );
  if (note.findings) {
    await service.tamper(
      `INSERT INTO note_screenings (note_id, rules_version, band, findings, screened_at)
       VALUES ($1, 1, 'low', $2, now())`,
      [id, JSON.stringify(note.findings.map((code) => ({ code, count: 1 })))],
    );
    await service.tamper(
      'INSERT INTO note_findings (note_id, code) SELECT $1, unnest($2::text[])',
      [id, note.findings],
    );
  }
  await service.tamper(figuresOfNotes('(SELECT $1::uuid AS note_id) given'), [id]);
}

t.test('reports depth, arrivals, decisions and their times', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const auditor = await addModerator(service, 'Aud', 'auditor');
  const [first, second] = [await submit(service), await submit(service)];
  await submit(service);
  await ann.post('claims', { note_ids: [first.id] });
  await decide(ann, first.id, 'approve');
  const { body } = await decide(ann, second.id, 'reject');
  await ann.post(`decisions/${body.event_id}/undo`, { expected_version: 2 });
  const answer = await auditor.get('stats');
  t.equal(answer.status, 200);
  t.same(
    answer.body.jobs,
    { screening: 4, dead: 0 },
    'without a worker, four screenings are queued',
  );
  const percentiles = { p50: Number, p95: Number, max: Number };
  const figures = {
    decisions: 2,
    approved: 1,
    rejected: 1,
    removed: 0,
    overturned: 1,
    overturn_rate: 0.5,
    age_seconds: percentiles,
    handling_seconds: percentiles,
  };
  t.match(answer.body, {
    status: 'ok',
    depth: { pending: 2, past_due: 0, oldest_age_seconds: Number },
    arrivals: 3,
    ...figures,
  });
  matchAll(t, answer.body.moderators, [
    { moderator: { id: ann.id, name: 'Ann', role: 'moderator' }, ...figures },
  ]);
  t.equal(Date.parse(answer.body.to) - Date.parse(answer.body.from), 7 * 86_400_000);
  const { days } = answer.body;
  t.ok(days.length === 8 && days.at(-1).arrivals === 3 && days.at(-1).decisions === 2);
  t.match(days[0], { arrivals: 0, ...NO_DECISIONS });
});

t.test('counts only what happened in the period', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const bob = await addModerator(service, 'Bob');
  const day = (time: string) => `2026-03-0${time}:00Z`;
  for (let minute = 1; minute <= 20; minute++) {
    const at = day(`2T10:${String(minute).padStart(2, '0')}`);
    await insertPastNote(service, {
      arrived: day('2T10:00'),
      state: 'approved',
      findings: ['links'],
      decisions: [['approved', at, ann.id, day('2T10:00')]],
    });
  }
  await insertPastNote(service, {
    arrived: day('1T00:00'),
    state: 'rejected',
    findings: ['links', 'profanity'],
    decisions: [['rejected', day('3T00:00'), bob.id]],
  });
  await insertPastNote(service, {
    arrived: day('3T01:00'),
    state: 'removed',
    findings: ['profanity'],
    decisions: [
      ['approved', day('3T01:01'), null],
      ['removed', day('3T02:00'), bob.id],
    ],
  });
  await insertPastNote(service, {
    arrived: day('3T03:00'),
    state: 'approved',
    decisions: [
      ['removed', day('3T04:00'), bob.id],
      ['restored', day('3T05:00'), ann.id],
    ],
  });
  await insertPastNote(service, {
    arrived: day('3T03:00'),
    state: 'pending',
    findings: ['links'],
    decisions: [['rejected', day('3T06:00'), bob.id, null, day('3T06:05')]],
  });
  await insertPastNote(service, {
    arrived: day('5T00:00'),
    state: 'approved',
    findings: ['links'],
    decisions: [['approved', day('5T00:00'), ann.id]],
  });

  const { body } = await ann.get('stats?from=2026-03-01&to=2026-03-05T00:00:00.000Z');
  t.match(body, {
    from: '2026-03-01T00:00:00.000Z',
    to: '2026-03-05T00:00:00.000Z',
    depth: { pending: 1, past_due: 1 },
    arrivals: 24,
    decisions: 26,
    approved: 21,
    rejected: 2,
    removed: 2,
    overturned: 3,
    overturn_rate: 3 / 25,
    age_seconds: { p50: 660, p95: 10_800, max: 172_800 },
    handling_seconds: { p50: 600, p95: 1140, max: 1200 },
  });
  t.same(
    body.days.map((row: { date: string; arrivals: number; decisions: number }) => [
      row.date,
      row.arrivals,
      row.decisions,
    ]),
    [
      ['2026-03-01', 1, 0],
      ['2026-03-02', 20, 20],
      ['2026-03-03', 3, 6],
      ['2026-03-04', 0, 0],
    ],
  );
  t.same(body.arrivals_by_hour, [
    { weekday: 1, hour: 10, arrivals: 20 },
    { weekday: 2, hour: 1, arrivals: 1 },
    { weekday: 2, hour: 3, arrivals: 2 },
    { weekday: 7, hour: 0, arrivals: 1 },
  ]);
  t.same(
    body.moderators.map((row: { moderator: { name: string } | null; decisions: number }) => [
      row.moderator?.name ?? 'the service',
      row.decisions,
    ]),
    [
      ['Ann', 21],
      ['Bob', 4],
      ['the service', 1],
    ],
  );
  t.match(body.moderators[1], { overturned: 2, handling_seconds: null });
  t.same(body.findings, [
    { code: 'links', flagged: 21, confirmed: 1, precision: 1 / 21 },
    { code: 'profanity', flagged: 2, confirmed: 2, precision: 1 },
  ]);
});

t.test('refuses an invalid, reversed or too long period', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  for (const [search, path] of [
    ['from=yesterday', 'from'],
    ['from=2026-03-02&to=2026-03-02', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'from'],
    ['from=2026-01-01&to=2026-04-04', 'from'],
    ['to=1772000000', 'to'],
    ['to=0000-01-01', 'to'],
  ] as const) {
    const answer = await ann.get(`stats?${search}`);
    t.equal(answer.status, 400, search);
    t.equal(answer.body.error.issues[0].path, path);
  }
  t.equal((await ann.get('stats?from=2026-01-01&to=2026-04-03')).status, 200);
  const { body } = await ann.get('stats?from=2020-01-01&to=2020-01-02');
  t.match(body, { arrivals: 0, ...NO_DECISIONS });
  t.same([body.findings, body.moderators], [[], []]);
  matchAll(t, body.days, [{ date: '2020-01-01' }]);
  t.equal((await service.call('GET', '/api/moderation/stats')).status, 401);
});

t.test('reads arrivals and decisions by their time indexes', async (t) => {
  const service = await startService(t);
  const client = await service.database.pool.connect();
  await client.query('SET enable_seqscan = off');
  const [from, to] = [new Date(0), new Date(86_400_000)];
  for (const [{ text, values }, index] of [
    [arrivalsByHour(from, to), /notes_in_time/],
    [decisionsIn(from, to), /decision_figures_in_time/],
  ] as const) {
    const { rows } = await client.query(`EXPLAIN ${text}`, values);
    t.match(JSON.stringify(rows), index);
  }
  client.release(true);
});

t.test('counts reported records as arrivals, and decisions on them like others', async (t) => {
  const service = await startService(t);
  const [author, reporter, another] = [
    await newAgent(service),
    await newAgent(service),
    await newAgent(service),
  ];
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const [packet, open] = [await publishArtifact(author), await publishCase(author)];
  await report(reporter, packet);
  await report(another, packet, { reason: 'abuse' });
  await report(reporter, open);
  t.match((await ann.get('stats')).body, { arrivals: 2, decisions: 0, depth: { reported: 2 } });

  await ann.post('claims', { count: 1, view: 'reported' });
  const decideOn = async ({ type, id }: typeof packet, action: object) => {
    const { version } = (await ann.get(`subjects/${type}/${id}`)).body.item;
    return ann.post(`subjects/${type}/${id}/decisions`, { ...action, expected_version: version });
  };
  await decideOn(packet, { action: 'keep' });
  const { event_id, version } = (await decideOn(open, { action: 'remove', policy: 'spam' })).body;
  const percentiles = { p50: Number, p95: Number, max: Number };
  const decided = {
    decisions: 2,
    removed: 1,
    age_seconds: percentiles,
    handling_seconds: percentiles,
  };
  const { body } = await ann.get('stats');
  t.match(body, { ...decided, overturned: 0, arrivals: 2, depth: { pending: 0, reported: 0 } });
  matchAll(t, body.moderators, [{ moderator: { name: 'Ann' }, ...decided }]);
  t.match(body.days.at(-1), { arrivals: 2, ...decided });

  await ann.post(`decisions/${event_id}/undo`, { expected_version: version });
  await report(another, open, { reason: 'abuse' });
  await report(await newAgent(service), packet, { reason: 'privacy' });
  const later = await bob.get('stats');
  t.match(later.body, { overturned: 1, overturn_rate: 1, arrivals: 3, depth: { reported: 2 } });
});
