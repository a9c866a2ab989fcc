import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { readCookie } from '../../../harness/api.ts';
import { addModerator, decide, type Moderator, submit } from '../../../harness/moderation.ts';
import {
  type Published,
  publishArtifact,
  publishCase,
  publishCaseNote,
  publishProfile,
} from '../../../harness/records.ts';
import { matchAll } from '../../support/match-all.ts';
import { advanceTime } from '../../support/passing-time.ts';
import { type Service, startService } from '../../support/service.ts';

const MESSAGE = 'Be kind.';
const NO_DECISION = { decision: null };
const WITH_REASON = { decision: { policy: 'abuse', message: MESSAGE } };

const pathOf = ({ id }: { id: string }) => `artifacts/${id}`;

async function readExport(agent: Agent) {
  const answer = await agent.call('GET', '/api/v1/me/export');
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

async function signIn(service: Service, { id, handle, sign_in_key }: Agent) {
  const login = await service.call('POST', '/api/membership/login', { body: { id, sign_in_key } });
  const cookie = readCookie(login);
  const note = (message: string) =>
    submit(service, { name: '', message, attribution: 'member', member_handle: handle }, cookie);
  const appeal = (id: string, text: string) =>
    service.call('POST', `/api/guestbook/${id}/appeal`, { body: { text }, cookie });
  return { note, appeal };
}

async function remove(moderator: Moderator, { type, id }: Published) {
  const path = `subjects/${type}/${id}`;
  const { version } = (await moderator.get(path)).body.item;
  const body = { action: 'remove', expected_version: version, policy: 'abuse', message: MESSAGE };
  const answer = await moderator.post(`${path}/decisions`, body);
  t.equal(answer.status, 201, answer.text);
}

t.test('leaves a rejection out of an export while it can be undone', async (t) => {
  const service = await startService(t);
  const ann = await addModerator(service, 'Ann');
  const agent = await newAgent(service);
  const { note } = await signIn(service, agent);
  const { id } = await note('Mine');
  await note('Another');
  const readRecords = async () => {
    const [{ id: _, message, submitted_at, ...one }, other] = (await readExport(agent)).notes;
    t.match(other, { state: 'pending', ...NO_DECISION });
    return one;
  };
  const pending = await readRecords();
  t.match(pending, { state: 'pending', ...NO_DECISION });
  const body = { action: 'reject', expected_version: 1, policy: 'abuse', message: MESSAGE };
  t.equal((await ann.post(`notes/${id}/decisions`, body)).status, 201);
  t.same(await readRecords(), pending);
  await advanceTime(service, '601 seconds');
  t.match(await readRecords(), { state: 'rejected', ...WITH_REASON });
});

t.test('leaves a removal out of an export while it can be undone', async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const agent = await newAgent(service);
  const artifact = await publishArtifact(agent);
  const aCase = await publishCase(agent);
  const records = [
    await publishProfile(agent),
    artifact,
    await publishCaseNote(agent, aCase.id),
    aCase,
  ];
  const [kept, keptCase] = [await publishArtifact(agent), await publishCase(agent)];
  const readRecords = async () => {
    const { profile, artifacts, cases, case_notes } = await readExport(agent);
    const of = (list: { id: string; state: string; removed?: boolean; decision: unknown }[]) =>
      list.map(({ id, state, removed = false, decision }) => ({ id, state, removed, decision }));
    return {
      profile: { state: profile.state, decision: profile.decision },
      artifacts: of(artifacts),
      cases: of(cases),
      case_notes: of(case_notes),
    };
  };
  const before = await readRecords();
  t.match(before, {
    profile: { state: 'published', ...NO_DECISION },
    cases: [{ removed: false }, {}],
  });
  for (const record of records) await remove(ann, record);
  t.same(await readRecords(), before);
  await advanceTime(service, '601 seconds');
  const removed = { state: 'removed', ...WITH_REASON };
  t.match(await readRecords(), {
    profile: removed,
    artifacts: [removed, { id: kept.id, state: 'published', ...NO_DECISION }],
    cases: [
      { removed: true, ...WITH_REASON },
      { id: keptCase.id, removed: false, ...NO_DECISION },
    ],
    case_notes: [removed],
  });

  // After a restoration, a second removal hides its reason until its own undo window ends.
  const path = `subjects/artifact/${artifact.id}`;
  const { version: expected_version } = (await lea.get(path)).body.item;
  const restored = await lea.post(`${path}/decisions`, { action: 'restore', expected_version });
  t.equal(restored.status, 201, restored.text);
  const restoredArtifact = { id: artifact.id, state: 'published', ...NO_DECISION };
  t.match((await readRecords()).artifacts[0], restoredArtifact);
  await remove(ann, artifact);
  t.match((await readRecords()).artifacts[0], restoredArtifact);
});

t.test("exports the moderator's message after a removed record is withdrawn", async (t) => {
  const service = await startService(t);
  const [ann, lea] = [
    await addModerator(service, 'Ann'),
    await addModerator(service, 'Lea', 'lead'),
  ];
  const agent = await newAgent(service);
  const records = [await publishProfile(agent), await publishArtifact(agent)];
  const restored = await publishArtifact(agent);
  for (const record of [...records, restored]) await remove(ann, record);
  const path = `subjects/artifact/${restored.id}`;
  const { version: expected_version } = (await lea.get(path)).body.item;
  await lea.post(`${path}/decisions`, { action: 'restore', expected_version });
  await advanceTime(service, '601 seconds');
  for (const withdraw of ['me/profile', ...records.slice(1).concat(restored).map(pathOf)])
    t.equal((await agent.call('POST', `/api/v1/${withdraw}/withdraw`, {})).status, 200, withdraw);
  const { profile, artifacts } = await readExport(agent);
  t.match(profile, { state: 'withdrawn', ...WITH_REASON });
  matchAll(t, artifacts, [
    { state: 'withdrawn', ...WITH_REASON },
    { state: 'withdrawn', ...NO_DECISION },
  ]);
});

t.test("exports a member's appeals and the answers to them", async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const [ann, bob] = [await addModerator(service, 'Ann'), await addModerator(service, 'Bob')];
  const agent = await newAgent(service);
  const { note, appeal } = await signIn(service, agent);
  const notes = [await note('One'), await note('Two')];
  const decisions: string[] = [];
  for (const { id } of notes) {
    decisions.push((await decide(ann, id, 'reject')).body.event_id);
    t.equal((await appeal(id, `Why ${id}?`)).status, 202);
  }
  const [one] = notes;
  const uphold = { action: 'uphold', expected_version: 3, message: 'It stands.' };
  t.equal((await bob.post(`notes/${one?.id}/decisions`, uphold)).status, 201);
  const { appeals, notes: shown } = await readExport(agent);
  matchAll(t, shown, [{ state: 'rejected', decision: { policy: 'spam', message: null } }, {}]);
  t.strictSame(
    appeals.map(({ id: _, opened_at, decided_at, ...rest }: Record<string, string>) => ({
      ...rest,
      times: [opened_at, decided_at].map((time) => time?.endsWith('Z') ?? null),
    })),
    notes.map(({ id }, index) => ({
      note_id: id,
      decision_id: decisions[index],
      text: `Why ${id}?`,
      state: index === 0 ? 'upheld' : 'open',
      message: index === 0 ? 'It stands.' : null,
      times: [true, index === 0 ? true : null],
    })),
  );
  t.same(
    (await readExport(await newAgent(service))).appeals,
    [],
    "another member's export has no appeals",
  );
});
