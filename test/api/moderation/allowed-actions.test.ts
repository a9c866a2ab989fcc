import t from 'tap';
import { type Agent, newAgent } from '../../../harness/agent.ts';
import { addModerator, type Moderator, submit, submitAs } from '../../../harness/moderation.ts';
import { publishArtifact, report } from '../../../harness/records.ts';
import { signedIn } from '../../../harness/registration.ts';
import type { Role } from '../../../platform/http/principal.ts';
import { ACTIONS, type Action, ROLES } from '../../../services/moderation/staff/roles.ts';
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

t.test('the console offers exactly the actions that the service accepts', async (t) => {
  const service = await startService(t, { UNDO_WINDOW_SECONDS: '0' });
  const people = {
    service,
    member: await signedIn(service),
    author: await newAgent(service),
    reporter: await newAgent(service),
  };
  const other = await addModerator(service, 'Other', 'lead');
  const reviewers = new Map<Role, Moderator>();
  for (const role of ROLES) reviewers.set(role, await addModerator(service, role, role));

  let accepted = 0;
  for (const [state, setup] of Object.entries(SETUPS))
    for (const [role, reviewer] of reviewers)
      for (const by of role === 'moderator' || role === 'lead' ? [other, reviewer] : [other]) {
        const who = by === reviewer ? `the ${role} who acted before` : `a ${role}`;
        let path = await setup(people, by);
        const { allowed_actions: allowed } = (await reviewer.get(path)).body.item;
        const actions = path.startsWith('notes/') ? ACTIONS : RECORD_ACTIONS;
        for (const action of actions) {
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
