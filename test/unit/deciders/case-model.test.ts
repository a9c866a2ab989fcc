import fc from 'fast-check';
import t from 'tap';
import { atTime, caseDecider } from '../../../domain/cases/case.ts';
import type { CaseEvent, CaseState, ExistingCase } from '../../../domain/cases/case-state.ts';
import type { CaseCommand } from '../../../domain/cases/commands.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { type Act, CaseModel, MEMBER_COUNT, type Step, steps } from '../../support/case-model.ts';
import { tries } from '../../support/sequences.ts';
import { at, claim, opening, release, review, submit, withdraw } from './case-setting.ts';

const idOf = (member: number) => `a0000000-0000-4000-8000-00000000000${member + 1}`;
const members = Array.from({ length: MEMBER_COUNT }, (_, member) => idOf(member));

function createCommand(
  { act, member }: Step,
  expectedVersion: number,
  second: number,
): CaseCommand {
  const id = idOf(member);
  const more = { expectedVersion, second, members };
  switch (act.type) {
    case 'claim':
      return claim(id, { ...more, leaseSeconds: act.seconds });
    case 'review':
      return review(id, act.decision, more);
    case 'release':
      return release(id, more);
    case 'submit':
      return submit(id, more);
    case 'withdraw':
      return withdraw(id, more);
  }
}

const shown = (state: ExistingCase) => ({
  state: state.status,
  version: state.version,
  holder: state.status === 'claimed' ? members.indexOf(state.claim.memberId) : null,
});

/** The transitions that the specification allows, for each event. */
const TABLE: Record<string, string> = {
  CaseClaimed: 'open>claimed',
  CaseLeaseExtended: 'claimed>claimed',
  CaseReleased: 'claimed>open',
  CaseLeaseEnded: 'claimed>open',
  CaseSubmitted: 'claimed>submitted',
  CaseReviewed: 'submitted>submitted',
  CaseAccepted: 'submitted>accepted',
  CaseReturned: 'submitted>claimed',
  CaseRejected: 'submitted>open',
  CaseWithdrawn: 'open>withdrawn',
};

t.test('keeps to the transition table and answers as the model does', async (t) => {
  const reached = new Set<string>();
  const answers = new Set<string>();
  fc.assert(
    fc.property(steps(40), (sequence) => {
      const model = new CaseModel();
      const log: CaseEvent[] = [];
      let second = 0;
      let state: CaseState = caseDecider.initial;
      const take = (events: CaseEvent[]) => {
        for (const event of events) {
          const next = caseDecider.evolve(state, event);
          if (state.status !== 'none') {
            const step = `${state.status}>${next.status}`;
            if (TABLE[event.type] !== step) throw new Error(`${event.type}: ${step}`);
            reached.add(event.type);
          }
          state = next;
          log.push(event);
        }
      };
      take(caseDecider.decide(state, { ...opening, memberId: idOf(0) }) as CaseEvent[]);

      for (const step of sequence) {
        second += step.wait;
        const expectedVersion = model.versionAt(second) + step.stale;
        const expected = model.act(step, expectedVersion, second);
        const decided = caseDecider.decide(state, createCommand(step, expectedVersion, second));
        const answer = isRefusal(decided) ? String(decided.details?.reason) : 'accepted';
        if (answer !== expected)
          throw new Error(`${JSON.stringify(step)}: ${answer}, where the model says ${expected}`);
        answers.add(`${step.act.type} ${answer}`);
        if (!isRefusal(decided)) take(decided);
        const now = shown(atTime(state as ExistingCase, at(second)));
        const wanted = model.shownAt(second);
        if (JSON.stringify(now) !== JSON.stringify(wanted))
          throw new Error(`${JSON.stringify(now)}, where the model has ${JSON.stringify(wanted)}`);
        const again = replay(caseDecider, log);
        if (JSON.stringify(again) !== JSON.stringify(state)) throw new Error('replayed otherwise');
      }
    }),
    tries(3000),
  );
  t.same([...reached].sort(), Object.keys(TABLE).sort(), 'every transition occurred');
  const types: Act['type'][] = ['claim', 'release', 'submit', 'review', 'withdraw'];
  for (const type of types)
    for (const answer of ['accepted', 'wrong_state', 'version_mismatch'])
      t.ok(answers.has(`${type} ${answer}`), `${type} ${answer}`);
  for (const answer of [
    'claim own_case',
    'release not_claimant',
    'release lease_expired',
    'submit not_claimant',
    'submit lease_expired',
    'review own_submission',
    'withdraw not_author',
  ])
    t.ok(answers.has(answer), answer);
});
