import t, { type Test } from 'tap';
import { ACTIONS, type Action, DECIDERS } from '../../../domain/moderation/roles.ts';
import { ROLES } from '../../../domain/permissions.ts';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { addModerator, type Moderator, submit, submitAs } from '../../../harness/moderation.ts';
import { publishArtifact, report } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import { type Service, startService } from '../../support/service.ts';

const DETAILS: Readonly<Record<Action, object>> = {
  approve: {},
  grant: {},
  keep: {},
  restore: {},
  reject: { policy: 'spam' },
  uphold: {},
  remove: { policy: 'spam' },
  escalate: { message: 'Please look' },
  defer: {},
};
const REASONS = ['wrong_state', 'second_person_required', 'parent_not_public', 'claimed_by_other'];

interface People {
  service: Service;
  member: Awaited<ReturnType<typeof signedIn>>;
  author: Agent;
  reporter: Agent;
}

/** Brings an item into a state by decisions of `by`; returns the path of the item. */
type Setup = (people: People, by: Moderator) => Promise<string>;

async function act(by: Moderator, path: string, action: Action) {
  const { version } = (await by.get(path)).body.item;
  return by.post(`${path}/decisions`, { action, expected_version: version, ...DETAILS[action] });
}

/** A note of a member after these steps: actions, an appeal or a report. */
function noteAfter(...steps: (Action | 'appeal' | 'report' | 'withdraw')[]): Setup {
  return async ({ service, member, reporter }, by) => {
    const { id } = await submitAs(service, member);
    const path = `notes/${id}`;
    for (const step of steps) {
      const { cookie } = member;
      const answer =
        step === 'report'
          ? await report(reporter, { type: 'note', id })
          : step === 'appeal' || step === 'withdraw'
            ? await service.call('POST', `/api/guestbook/${id}/${step}`, {
                body: step === 'appeal' ? { text: 'Please' } : {},
                cookie,
              })
            : await act(by, path, step);
      if (answer.status >= 300) throw new Error(`${step}: ${answer.text}`);
    }
    return path;
  };
}

function replyTo(...steps: Action[]): Setup {
  return async (people, by) => {
    const parent = await noteAfter('approve')(people, by);
    const reply = await submit(people.service, { parent_id: parent.slice('notes/'.length) });
    for (const step of steps) await act(by, parent, step);
    return `notes/${reply.id}`;
  };
}

const claimed: Setup = async (people, by) => {
  const path = await noteAfter()(people, by);
  const claim = await by.post('claims', { note_ids: [path.slice('notes/'.length)] });
  if (claim.status >= 300) throw new Error(claim.text);
  return path;
};

const artifactAfter =
  (...steps: (Action | 'report' | 'withdraw')[]): Setup =>
  async ({ author, reporter }, by) => {
    const record = await publishArtifact(author);
    const path = `subjects/artifact/${record.id}`;
    for (const step of steps) {
      const answer =
        step === 'report'
          ? await report(reporter, record)
          : step === 'withdraw'
            ? await author.call('POST', `/api/v1/artifacts/${record.id}/withdraw`, {})
            : await act(by, path, step);
      if (answer.status >= 300) throw new Error(`${step}: ${answer.text}`);
    }
    return path;
  };

const SETUPS: Readonly<Record<string, Setup>> = {
  'a pending note': noteAfter(),
  'a pending note that somebody claimed': claimed,
  'an escalated note': noteAfter('escalate'),
  'a deferred note': noteAfter('defer'),
  'a reply to a public note': replyTo(),
  'a reply to a removed note': replyTo('remove'),
  'an approved note': noteAfter('approve'),
  'a reported note': noteAfter('approve', 'report'),
  'a rejected note': noteAfter('reject'),
  'a rejected note under appeal': noteAfter('reject', 'appeal'),
  'a removed note': noteAfter('approve', 'remove'),
  'a removed note under appeal': noteAfter('approve', 'remove', 'appeal'),
  'a withdrawn note': noteAfter('withdraw'),
  'a published record': artifactAfter(),
  'a reported record': artifactAfter('report'),
  'a removed record': artifactAfter('remove'),
  'a removed record that was reported': artifactAfter('report', 'remove'),
  'a withdrawn record': artifactAfter('withdraw'),
};

const RECORD_ACTIONS: readonly Action[] = ['keep', 'restore', 'remove'];

/** Starts a service, with a reviewer of each role and, for each, moderators who may act before. */
async function startReview(t: Test, settings: Record<string, string> = {}) {
  const service = await startService(t, settings);
  const people = {
    service,
    member: await signedIn(service),
    author: await newAgent(service),
    reporter: await newAgent(service),
  };
  const other = await addModerator(service, 'Other', 'lead');
  const pairs: { who: string; reviewer: Moderator; by: Moderator }[] = [];
  for (const role of ROLES) {
    const reviewer = await addModerator(service, role, role);
    pairs.push({ who: role, reviewer, by: other });
    if (DECIDERS.includes(role))
      pairs.push({ who: `the ${role} who acted before`, reviewer, by: reviewer });
  }
  return { people, pairs };
}

t.test('the console offers exactly the actions that the service accepts', async (t) => {
  const { people, pairs } = await startReview(t, { UNDO_WINDOW_SECONDS: '0' });
  let accepted = 0;
  for (const [state, setup] of Object.entries(SETUPS))
    for (const { who, reviewer, by } of pairs) {
      let path = await setup(people, by);
      const { allowed_actions: allowed } = (await reviewer.get(path)).body.item;
      for (const action of path.startsWith('notes/') ? ACTIONS : RECORD_ACTIONS) {
        const { status, body, text } = await act(reviewer, path, action);
        const what = `${state}, ${who}: ${action} ${text}`;
        t.equal(allowed.includes(action), status === 201, what);
        if (status === 409) t.ok(REASONS.includes(body.error.reason), what);
        else if (status !== 201) t.equal(status, 403, what);
        if (status !== 201) continue;
        accepted++;
        path = await setup(people, by);
      }
    }
  t.ok(accepted > 60, `${accepted} accepted`);
});

for (const [when, settings] of [
  ['within the undo window', {}],
  ['after the undo window', { UNDO_WINDOW_SECONDS: '0' }],
] as const)
  t.test(`the console offers exactly the undos that the service accepts ${when}`, async (t) => {
    const { people, pairs } = await startReview(t, settings);
    const counts = { accepted: 0, refused: 0 };
    for (const [state, setup] of Object.entries(SETUPS)) {
      // Nobody appeals a decision before its author knows of it.
      if (state.includes('appeal')) continue;
      for (const { who, reviewer, by } of pairs) {
        const { decision, version } = (await reviewer.get(await setup(people, by))).body.item;
        if (!decision) continue;
        const { status, text } = await reviewer.post(`decisions/${decision.event_id}/undo`, {
          expected_version: version,
        });
        t.equal(decision.undo_allowed, status === 201, `${state}, ${who}: undo ${text}`);
        counts[status === 201 ? 'accepted' : 'refused']++;
      }
    }
    t.ok(counts.accepted > 5 && counts.refused > 10, JSON.stringify(counts));
  });
