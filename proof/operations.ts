import { setTimeout as sleep } from 'node:timers/promises';
import { brief } from '../harness/packets.ts';
import {
  anyAddress,
  consent,
  type KnownCase,
  retryUntilAnswered,
  type SharedRunState,
  uuid,
} from './client.ts';
import { type Answer, done } from './history.ts';
import type { Credential, Member } from './member.ts';
import type { Random } from './random.ts';

const REASONS = ['spam', 'abuse', 'other'] as const;

/** The actions of a member, performed one at a time. */
export function createOperations(common: SharedRunState, random: Random, member: Member) {
  const { write, own, session, words } = member;

  async function openCase(used?: Credential, copies?: number): Promise<Answer | undefined> {
    const title = `A case ${random.below(1e9)} ${words}`;
    const said = { title, summary: words, objective: words, acceptance_criteria: [words] };
    const body = { ...said, ...consent };
    const manner = { used, ...(copies ? { copies } : {}) };
    const answer = await write('case.create', '/api/v1/cases', body, manner);
    if (done(answer)) common.cases.push(learnt(answer));
    return answer;
  }

  const learnt = ({ body }: Answer): KnownCase => ({
    id: body.case.id,
    author: body.case.author_id,
    version: body.case.version,
    state: body.case.state,
    claimant: body.case.claim?.member_id,
  });

  /** A command that fits the last known state of a case, which may be stale. */
  function next({
    state,
    author,
    claimant,
  }: KnownCase): [verb: string, path: string, body: object] {
    if (state === 'submitted') {
      const decision = random.pick(['accept', 'request_changes', 'reject']);
      return ['review', 'reviews', { decision, comment: words, ...consent }];
    }
    if (state === 'open')
      return author === member.id ? ['withdraw', 'withdraw', {}] : ['claim', 'claim', {}];
    if (claimant === member.id && random.chance(0.2)) return ['release', 'release', {}];
    if (claimant === member.id && random.chance(0.2)) return ['claim', 'claim', {}];
    return ['submit', 'submissions', { summary: words, ...consent }];
  }

  async function onCase(): Promise<void> {
    const recent = common.cases.slice(-40);
    const of = (state: string, mine: boolean, by: 'author' | 'claimant' = 'author') =>
      recent.filter((known) => known.state === state && (known[by] === member.id) === mine);
    const chores = [
      of('claimed', true, 'claimant'),
      of('submitted', true),
      of('submitted', false),
      of('open', false),
      ...(random.chance(0.1) ? [of('open', true), of('claimed', false, 'claimant')] : []),
    ].filter((cases) => cases.length > 0);
    if (chores.length === 0) return;
    const known = random.pick(random.pick(chores));
    const path = `/api/v1/cases/${known.id}`;
    const [verb, at, body] = next(known);
    const answer = await (random.chance(0.2)
      ? write('case.note', `${path}/notes`, { message: words, ...consent })
      : write(`case.${verb}`, `${path}/${at}`, { expected_version: known.version, ...body }));
    // Another member was faster: read the current state of the case.
    const newer = answer?.status === 409 ? await member.read(path) : answer;
    if (done(newer)) Object.assign(known, learnt(newer));
    if (done(answer)) await readBack(path, known.version);
  }

  async function readBack(path: string, written: number): Promise<void> {
    const answer = await member.read(path);
    if (done(answer))
      common.history.ownReads.push({ path, written, read: answer.body.case.version });
  }

  const publishProfile = (used?: Credential, copies?: number) =>
    write(
      'profile.publish',
      '/api/v1/me/profile',
      {
        display_name: `Member ${random.below(1e9)}`,
        summary: words,
        links: [],
        capabilities: [],
        ...consent,
      },
      { used, ...(copies ? { copies } : {}) },
    );

  async function publishArtifact(): Promise<void> {
    const supersedes_id = random.chance(0.3) ? (own.artifacts.at(-1) ?? null) : null;
    const answer = await write(
      'artifact.publish',
      '/api/v1/artifacts',
      brief({ supersedes_id, summary: words }),
    );
    if (!done(answer)) return;
    own.artifacts.push(answer.body.artifact.id);
    common.artifacts.push({ id: answer.body.artifact.id, author: member.id });
  }

  async function withdrawSomething(): Promise<void> {
    const artifact = own.artifacts.shift();
    if (artifact && random.chance(0.6))
      await write('artifact.withdraw', `/api/v1/artifacts/${artifact}/withdraw`, {});
    else await write('profile.withdraw', '/api/v1/me/profile/withdraw', {});
  }

  async function report(): Promise<void> {
    const subjects = [
      ...common.cases.slice(-5).map(({ id }) => ({ type: 'case', id })),
      ...common.artifacts.slice(-5).map(({ id }) => ({ type: 'artifact', id })),
      ...common.notes.slice(-5).map((id) => ({ type: 'note', id })),
    ];
    if (subjects.length === 0) return;
    const body = { subject: random.pick(subjects), reason: random.pick(REASONS), details: words };
    await write('report.create', '/api/v1/reports', body);
  }

  /** Submits a note, as a guest or as this member, at the top level or as a reply. */
  async function note(): Promise<void> {
    const id = uuid(random);
    const parent_id = random.chance(0.3) ? (common.notes.at(-1) ?? null) : null;
    const text = { id, message: `A note ${random.below(1e9)}`, parent_id };
    if (random.chance(0.5)) await guestNote(common, random, text);
    else {
      if (!session.cookie()) await session.begin();
      const body = { ...text, attribution: 'member', member_handle: member.handle };
      const answer = await session.post('guestbook.submit', '/api/guestbook', body, {
        key: id,
      });
      if (done(answer)) own.notes.push(id);
      if (answer?.status === 401) await session.begin();
    }
  }

  /** Reads the outcome of an own note, then sometimes appeals or withdraws it. */
  async function afterNote(): Promise<void> {
    const id = own.notes[random.below(own.notes.length)];
    if (!id || !session.cookie()) return;
    const path = `/api/guestbook/${id}`;
    const read = await common.call({
      method: 'GET',
      path: `${path}/outcome`,
      headers: { cookie: session.cookie() ?? '' },
    });
    const { status, outcome, appeal_until } = read?.body ?? {};
    if (status === 'not_published' && outcome !== 'withdrawn')
      common.history.told.push({ note: id, answered: common.history.now() });
    if (appeal_until) {
      const text = { text: 'It was meant well' };
      await session.post('guestbook.appeal', `${path}/appeal`, text, { subject: id });
    } else if (random.chance(0.4))
      await session.post('guestbook.withdraw', `${path}/withdraw`, {}, { subject: id });
  }

  async function reportFromPage(): Promise<void> {
    const id = common.notes.at(-1);
    if (!id) return;
    const path = `/api/guestbook/${id}/report`;
    const address = anyAddress(random);
    const send = () =>
      common.call({
        method: 'POST',
        path,
        body: { reason: random.pick(REASONS) },
        headers: { 'x-forwarded-for': address },
      });
    const entry = { operation: 'guestbook.report', actor: address, address, subject: id };
    await retryUntilAnswered(common, random, { ...entry, send });
  }

  /** Creates a credential and revokes it while several hands write with it. */
  async function revokeWhileWriting(): Promise<void> {
    const made = await member.bootstrap(random.chance(0.3) ? 61 : undefined);
    if (!made) return;
    const hands = [1, 2, 3].map(() => openCase(made));
    await sleep(random.below(60));
    const revoked = member.revoke(made);
    hands.push(openCase(made), publishProfile(made));
    await revoked;
    await openCase(made);
    await Promise.all(hands);
  }

  async function signInOrOut(): Promise<void> {
    if (session.cookie() && random.chance(0.5)) return session.end();
    const cookie = await session.begin();
    if (cookie)
      await common.call({ method: 'GET', path: '/api/membership/me', headers: { cookie } });
  }

  async function look(): Promise<void> {
    const paths = ['/api/v1/me', '/api/v1/me/export', '/api/v1/agents', '/api/v1/artifacts'];
    await member.read(random.pick([...paths, '/api/v1/cases', '/api/v1/activity']));
  }

  const weighed: readonly (readonly [weight: number, deed: () => Promise<unknown>])[] = [
    [8, () => openCase()],
    [18, onCase],
    [8, () => publishProfile()],
    [8, publishArtifact],
    [4, withdrawSomething],
    [5, report],
    [12, note],
    [10, afterNote],
    [2, reportFromPage],
    [4, revokeWhileWriting],
    [3, () => member.rotate()],
    [4, signInOrOut],
    [1, member.recover],
    [6, look],
  ];
  const all = weighed.reduce((sum, [weight]) => sum + weight, 0);

  /** Performs one random action. */
  async function something(): Promise<void> {
    let left = random.next() * all;
    for (const [weight, deed] of weighed) {
      left -= weight;
      if (left < 0) {
        await deed();
        return;
      }
    }
  }

  return { something, openCase, publishProfile };
}

export function guestNote(
  common: SharedRunState,
  random: Random,
  body: { id: string; message: string; parent_id?: string | null },
  { address = anyAddress(random), copies = random.chance(0.1) ? 3 : 1 } = {},
): Promise<Answer | undefined> {
  const headers = { 'x-forwarded-for': address };
  return retryUntilAnswered(common, random, {
    operation: 'guestbook.submit',
    actor: address,
    address,
    key: body.id,
    patience: random.chance(0.15) ? 0 : 60,
    copies,
    send: () => common.call({ method: 'POST', path: '/api/guestbook', body, headers }),
  });
}
