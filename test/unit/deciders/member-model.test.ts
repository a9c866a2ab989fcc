import fc from 'fast-check';
import t from 'tap';
import type * as events from '../../../domain/membership/events.ts';
import { member } from '../../../domain/membership/member.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../../platform/eventstore/event.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { answersOf, same, tries } from '../../support/sequences.ts';

type Event = NewEvent<
  (typeof events)['MemberRegistered' | 'MemberRecovered' | 'MemberDeactivated' | 'MemberErased']
>;

const LIMITS = { members: 3, registrationsPerDay: 3 };

const who = fc.nat(4);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('register' as const),
      who,
      handle: fc.constantFrom('ada', 'bob', 'cyd', 'dan', 'eve', 'fay'),
      open: fc.nat(9).map((n) => n > 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('recover' as const), who }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('deactivate' as const), who }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('erase' as const), who }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('midnight' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** The model of membership. */
class Membership {
  readonly members = new Map<number, 'living' | 'gone' | 'erased'>();
  readonly #handles = new Set<string>();
  #today = 0;

  act(step: Step): string {
    if (step.type === 'midnight') {
      this.#today = 0;
      return 'accepted';
    }
    const now = this.members.get(step.who);
    switch (step.type) {
      case 'register': {
        if (now) return 'registration_conflict';
        if (!step.open) return 'admission_closed';
        const living = [...this.members.values()].filter((state) => state === 'living').length;
        if (living === LIMITS.members) return 'capacity_reached';
        if (this.#handles.has(step.handle)) return 'registration_conflict';
        if (this.#today === LIMITS.registrationsPerDay) return 'rate_limited';
        this.members.set(step.who, 'living');
        this.#handles.add(step.handle);
        this.#today++;
        return 'accepted';
      }
      case 'recover':
        return now === 'living' ? 'accepted' : 'credentials_not_accepted';
      case 'deactivate':
        if (now !== 'living') return 'nothing';
        this.members.set(step.who, 'gone');
        return 'accepted';
      case 'erase':
        if (now !== 'gone') return 'nothing';
        this.members.set(step.who, 'erased');
        return 'accepted';
    }
  }
}

/** Members by their log; the facts that a command needs about others are computed from it. */
class Log {
  readonly #streams = new Map<number, Event[]>();
  #today = 0;

  #all = (type: Event['type']) => [...this.#streams.values()].flat().filter((e) => e.type === type);

  #commandOf(step: Exclude<Step, { type: 'midnight' }>) {
    if (step.type === 'recover') return { type: 'RecoverMember', operationId: 'o' } as const;
    if (step.type === 'erase') return { type: 'EraseMember' } as const;
    if (step.type === 'deactivate') return { type: 'DeactivateMember', eraseNotes: false } as const;
    return {
      type: 'RegisterMember' as const,
      handle: step.handle,
      handleHash: `hash of ${step.handle}`,
      handleKeyId: 1,
      handleReserved: false,
      handleTaken: this.#all('MemberRegistered').some(
        ({ data }) => 'handle_hash' in data && data.handle_hash === `hash of ${step.handle}`,
      ),
      activeMembers: this.#all('MemberRegistered').length - this.#all('MemberDeactivated').length,
      limited: this.#today >= LIMITS.registrationsPerDay,
      limits: LIMITS,
      admission: step.open,
    };
  }

  act(step: Step): string {
    if (step.type === 'midnight') {
      this.#today = 0;
      return 'accepted';
    }
    const stream = this.#streams.get(step.who) ?? [];
    const decided = member.decide(replay(member, stream), this.#commandOf(step));
    if (isRefusal(decided)) return decided.refused;
    this.#streams.set(step.who, [...stream, ...decided]);
    if (step.type === 'register') this.#today++;
    return decided.length > 0 ? 'accepted' : 'nothing';
  }

  state(who: number): string {
    const { status } = replay(member, this.#streams.get(who) ?? []);
    return { none: 'unknown', active: 'living', deactivated: 'gone', erased: 'erased' }[status];
  }
}

t.test('agrees with the model on registrations, recoveries and deletions', async (t) => {
  const answers = answersOf<Step>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (sequence) => {
      const model = new Membership();
      const log = new Log();
      for (const step of sequence) {
        answers.agree(step, log.act(step), model.act(step));
        for (let who = 0; who < 5; who++) same(log.state(who), model.members.get(who) ?? 'unknown');
      }
    }),
    tries(12_000),
  );
  for (const answer of [
    'register accepted',
    'register registration_conflict',
    'register admission_closed',
    'register capacity_reached',
    'register rate_limited',
    'recover accepted',
    'recover credentials_not_accepted',
    'deactivate accepted',
    'deactivate nothing',
    'erase accepted',
    'erase nothing',
  ])
    t.ok(answers.seen.has(answer), answer);
});
