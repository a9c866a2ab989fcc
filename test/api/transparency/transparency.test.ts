import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import {
  addModerator,
  decide,
  type Moderator,
  submit,
  submitAs,
} from '../../../harness/moderation.ts';
import { needs } from '../../../harness/programs.ts';
import { publishArtifact, publishProfile, report } from '../../../harness/records.ts';
import { publishedWeeks } from '../../../projections/moderation/moderation-weeks.ts';
import type { Week } from '../../../services/transparency/contract.ts';
import { weekName } from '../../../services/transparency/handlers.ts';
import { eraseMembers } from '../../../workers/account/erase-member.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { recountWeeks } from '../../support/recount.ts';
import { type Service, startService } from '../../support/service.ts';

const DECIDED = ['approve', 'reject', 'remove', 'restore', 'keep', 'grant', 'uphold'];
const ANSWERS = { removed: 0, restored: 0, kept: 0 };
const EMPTY = {
  decisions: 0,
  notes: { approved: 0, rejected: 0, ...ANSWERS },
  records: ANSWERS,
  policies: [],
  appeals: { opened: 0, granted: 0, upheld: 0 },
  time_to_decision_seconds: null,
};

/** All weeks, from pages of three. */
async function readWeeks(service: Service): Promise<Week[]> {
  const weeks: Week[] = [];
  let cursor = '';
  do {
    const { body } = await service.call('GET', `/api/transparency?limit=3${cursor}`);
    weeks.push(...body.weeks);
    cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
  } while (cursor);
  return weeks;
}

/** The newest week with a decision. On a Monday, the last week has none of those of eight days ago. */
const latestDecided = (weeks: readonly Week[]): Week | undefined =>
  weeks.find(({ decisions }) => decisions > 0);

const pick = <T>(from: readonly T[]): T | undefined => from[randomInt(from.length || 1)];

interface World {
  service: Service;
  staff: readonly Moderator[];
  paths: string[];
  decisions: string[];
}

/** One decision or undo of a random moderator, which the service may refuse. */
async function act({ staff, paths, decisions }: World): Promise<void> {
  const [moderator, path] = [pick(staff), pick(paths)];
  if (!moderator || !path) return;
  const { item } = (await moderator.get(path)).body;
  if (!item) return;
  const of = pick(decisions);
  if (of && randomInt(4) === 0) {
    await moderator.post(`decisions/${of}/undo`, { expected_version: item.version });
    return;
  }
  const action = pick(item.allowed_actions.filter((name: string) => DECIDED.includes(name)));
  if (!action) return;
  const policy = pick(['spam', 'abuse', 'illegal']);
  const refuses = action === 'reject' || action === 'remove';
  const { body } = await moderator.post(`${path}/decisions`, {
    action,
    expected_version: item.version,
    ...(refuses ? { policy } : {}),
  });
  if (body.event_id) decisions.push(body.event_id);
}

async function signIn(service: Service, { id, sign_in_key }: Agent): Promise<string> {
  return readCookie(
    await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } }),
  );
}

t.test('sums to the log, after random decisions, undo, erasure and rebuilds', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '600' });
  const staff = [
    await addModerator(service, 'Ann', 'lead'),
    await addModerator(service, 'Bob'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const world: World = { service, staff, paths: [], decisions: [] };
  const agree = async () => {
    const recounted = await recountWeeks(service.database.pool);
    const weeks = await readWeeks(service);
    const open = weeks[0]?.from ?? '';
    for (const { week, ...figures } of weeks)
      t.same(figures, recounted.get(figures.from) ?? { ...EMPTY, from: figures.from }, week);
    const older = [...recounted.keys()].filter((monday) => monday <= open);
    t.same(
      older.filter((monday) => !weeks.some(({ from }) => from === monday)),
      [],
    );
    return weeks;
  };

  for (let era = 0; era < 3; era++) {
    const [author, reporter] = [await newAgent(service), await newAgent(service)];
    const cookie = await signIn(service, author);
    const own = [];
    for (let n = 0; n < 5; n++) own.push((await submitAs(service, { ...author, cookie })).id);
    const notes = [...own, (await submit(service)).id, (await submit(service)).id];
    const packets = [await publishArtifact(author), await publishArtifact(author)];
    const records = [...packets, await publishProfile(author)];
    world.paths.push(...notes.map((id) => `notes/${id}`));
    world.paths.push(...records.map(({ type, id }) => `subjects/${type}/${id}`));
    for (const record of records) await report(reporter, record, { reason: 'abuse' });
    for (const id of own) {
      const policy = pick(['spam', 'abuse']);
      await staff[1]?.post(`notes/${id}/decisions`, {
        action: 'reject',
        policy,
        expected_version: 1,
      });
    }
    for (let n = 0; n < 40; n++) await act(world);
    await advanceTime(service, '11 minutes');
    for (const id of own)
      await service.call('POST', `/api/guestbook/${id}/appeal`, { body: { text: 'Why?' }, cookie });
    for (let n = 0; n < 40; n++) await act(world);
    await advanceTime(service, '10 days');
    await agree();
    if (era === 1) {
      const [agent] = [await newAgent(service)];
      const { id } = await submitAs(service, { ...agent, cookie: await signIn(service, agent) });
      await decide(staff[1] as Moderator, id, 'reject');
      await advanceTime(service, '9 days');
      const before = await agree();
      await agent.call('POST', '/api/v1/me/delete', { confirm_handle: agent.handle });
      await eraseMembers(service.core);
      t.same(await agree(), before, 'an erasure changes no count');
    }
  }
  const sum = (await readWeeks(service)).reduce((total, { decisions }) => total + decisions, 0);
  t.ok(sum > 30, `${sum} decisions`);
});

t.test(
  'shows nothing of the present week, of a decision in its window or of a membership',
  async (t) => {
    const service = await startService(t, { UNDO_WINDOW_SECONDS: '3600' });
    const [ann, bob] = [
      await addModerator(service, 'Ann', 'lead'),
      await addModerator(service, 'Bob'),
    ];
    const early = await submit(service);
    await decide(bob, early.id, 'approve');
    await advanceTime(service, '8 days');
    const read = async () =>
      (
        await Promise.all(
          ['/api/transparency', '/transparency', '/transparency.csv'].map((path) =>
            service.call('GET', path),
          ),
        )
      ).map(({ status, text }) => ({ status, text }));
    const before = await read();
    t.match(before[0]?.text, /"approved":1/);

    const { item } = (await bob.get(`notes/${early.id}`)).body;
    const remove = { action: 'remove', policy: 'spam', expected_version: item.version };
    await bob.post(`notes/${early.id}/decisions`, remove);
    await decide(bob, (await submit(service)).id, 'reject');
    const { id } = await newAgent(service);
    const disable = { policy: 'abuse', message: null, until: null };
    t.equal((await ann.post(`members/${id}/disable`, disable)).status, 201);
    t.same(await read(), before);

    await advanceTime(service, '8 days');
    const after = await service.call('GET', '/api/transparency');
    t.match(latestDecided(after.body.weeks), { decisions: 2, policies: [{ policy: 'spam' }] });
    t.notMatch(after.text, /abuse|Ann|Bob/);
  },
);

t.test('publishes a week once its last decision has left the undo window', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '600' });
  const { pool } = service.database;
  await decide(await addModerator(service, 'Bob'), (await submit(service)).id, 'approve');
  const toMonday = async (more: string) => {
    const { rows } = await pool.query<{ by: string }>(
      `SELECT (recorded_at - date_trunc('week', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
        + interval '1 second' + $1::interval)::text AS by FROM events WHERE type = 'NoteApproved'`,
      [more],
    );
    return rows[0]?.by ?? '';
  };
  const weeks = async (seconds: number) =>
    (await pool.query(publishedWeeks(seconds).text, [seconds])).rows[0];
  // The approval is in the last second of the last week.
  await advanceTime(service, await toMonday('0'));
  const { rows } = await pool.query<{ gone: number }>(
    `SELECT floor(extract(epoch FROM now() - recorded_at))::int AS gone FROM events
     WHERE type = 'NoteApproved'`,
  );
  const gone = rows[0]?.gone ?? 0;
  const inside = await weeks(gone + 100);
  t.equal(inside.first, inside.open, 'its week is not complete while the window lasts');
  const { first, open } = await weeks(Math.max(gone - 100, 0));
  t.ok(first < open, `${first} is complete, and ${open} is not`);
});

t.test('answers CSV that another parser reads as the JSON', needs('python3'), async (t) => {
  const service = await startService(t);
  const bob = await addModerator(service, 'Bob');
  for (const action of ['approve', 'reject', 'reject'] as const)
    await decide(bob, (await submit(service)).id, action);
  await advanceTime(service, '8 days');
  const { body } = await service.call('GET', '/api/transparency');
  const week = latestDecided(body.weeks);
  const csv = await service.call('GET', '/transparency.csv');
  t.match(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
  const python = `import csv, json, sys
print(json.dumps(list(csv.DictReader(sys.stdin))))`;
  const rows: Record<string, string>[] = JSON.parse(
    execFileSync('python3', ['-c', python], { input: csv.text, encoding: 'utf8' }),
  );
  const value = (measure: string, policy = '') =>
    rows.find((row) => row.week === week?.week && row.measure === measure && row.policy === policy)
      ?.value;
  t.same(
    [
      value('decisions'),
      value('notes_approved'),
      value('rejected', 'spam'),
      value('seconds_median'),
    ],
    [3, 1, 2, week?.time_to_decision_seconds?.median].map(String),
  );
  t.equal(weekName('2027-01-04'), '2027-W01');
  t.equal(weekName('2026-12-28'), '2026-W53');
  t.equal(weekName('2024-12-30'), '2025-W01');
});

t.test('is empty before the first week is over', async (t) => {
  const service = await startService(t);
  await decide(await addModerator(service, 'Bob'), (await submit(service)).id, 'approve');
  const { body } = await service.call('GET', '/api/transparency');
  t.same(body, { status: 'ok', weeks: [], next_cursor: null, has_more: false });
  t.equal(
    (await service.call('GET', '/transparency.csv')).text,
    'week,from,measure,policy,value\r\n',
  );
  t.match((await service.call('GET', '/transparency')).text, /No week with a decision is over yet/);
});
