import fc from 'fast-check';
import t from 'tap';
import {
  disabling,
  isDisabled,
  type MembershipCommand,
  type MembershipState,
} from '../../../domain/disabling/disabling.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { answersOf, same, tries } from '../../support/sequences.ts';

const UNDO_SECONDS = 600;
const START = Date.parse('2026-09-12T10:00:00.000Z');

const lead = fc.constantFrom('lea', 'leo', 'lou');
const anyone = fc.constantFrom('lea', 'leo', 'lou', null);
const wait = fc.constantFrom(0, 0, 60, 700);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('disable' as const),
      by: anyone,
      seconds: fc.constantFrom(null, null, 1000, 100_000),
      wait,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('enable' as const), by: anyone, wait }) },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('appeal' as const), wait }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constantFrom('grant' as const, 'uphold' as const),
      by: lead,
      stale: fc.nat(7).map((n) => n === 0),
      wait,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('undo' as const),
      by: lead,
      back: fc.constantFrom(0, 0, 1, 2),
      wait,
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

interface Made {
  kind: 'disabled' | 'enabled' | 'granted' | 'upheld';
  by: string | null;
  at: number;
  undone: boolean;
}

/** The model: the decisions in their order, and the one disabling that counts, with its appeal. */
class Model {
  readonly decisions: Made[] = [];
  #disabling: (Made & { until: number }) | null = null;
  #lifted: Made | null = null;
  #appeal: 'none' | 'open' | 'granted' | 'upheld' = 'none';
  /** The decision that settled the appeal. */
  #settled: Made | null = null;

  disabled(now: number): boolean {
    return this.#disabling !== null && this.#lifted === null && this.#disabling.until > now;
  }

  #decide(kind: Made['kind'], by: string | null, at: number): Made {
    const made = { kind, by, at, undone: false };
    this.decisions.push(made);
    return made;
  }

  #isAppealedAgainst = (by: string | null) =>
    by !== null && this.#appeal === 'open' && this.#disabling?.by === by;

  act(step: Step, now: number): string {
    const last = this.#disabling;
    switch (step.type) {
      case 'disable':
        if (this.disabled(now)) return 'wrong_state';
        if (this.#isAppealedAgainst(step.by)) return 'second_person_required';
        this.#disabling = Object.assign(this.#decide('disabled', step.by, now), {
          until: step.seconds === null ? Infinity : now + step.seconds * 1000,
        });
        this.#lifted = null;
        this.#appeal = 'none';
        this.#settled = null;
        return 'accepted';
      case 'enable':
        if (!this.disabled(now)) return 'wrong_state';
        if (this.#isAppealedAgainst(step.by)) return 'second_person_required';
        this.#lifted = this.#decide('enabled', step.by, now);
        if (this.#appeal === 'open') this.#settle('granted', this.#lifted);
        return 'accepted';
      case 'appeal':
        if (!last || !this.disabled(now) || now < last.at + UNDO_SECONDS * 1000)
          return 'wrong_state';
        if (this.#appeal !== 'none') return 'already_appealed';
        this.#appeal = 'open';
        return 'accepted';
      case 'grant':
      case 'uphold':
        if (this.#appeal !== 'open' || !this.disabled(now)) return 'wrong_state';
        if (last?.by === step.by) return 'second_person_required';
        if (step.stale) return 'version_mismatch';
        if (step.type === 'grant') {
          this.#lifted = this.#decide('granted', step.by, now);
          this.#settle('granted', this.#lifted);
        } else this.#settle('upheld', this.#decide('upheld', step.by, now));
        return 'accepted';
      case 'undo':
        return this.#undo(step, now);
    }
  }

  #settle(appeal: 'granted' | 'upheld', by: Made): void {
    this.#appeal = appeal;
    this.#settled = by;
  }

  #undo({ by, back }: Extract<Step, { type: 'undo' }>, now: number): string {
    const made = this.decisions.at(-1 - back);
    const last = this.#disabling;
    if (!made || !last || last.until <= now || !this.#undoable().includes(made))
      return 'wrong_state';
    const within = now < made.at + UNDO_SECONDS * 1000;
    const appealed = made === last && this.#appeal === 'open';
    if (made.by === by ? !within || appealed : made !== last && last.by === by)
      return 'second_person_required';
    made.undone = true;
    if (made === last) this.#lifted = made;
    else {
      this.#lifted = null;
      if (made === this.#settled) this.#appeal = 'open';
    }
    if (appealed) this.#appeal = 'granted';
    return 'accepted';
  }

  /** A lift hides the decisions before it; an upheld appeal leaves the disabling undoable. */
  #undoable(): Made[] {
    if (this.#lifted) return this.#lifted.undone ? [] : [this.#lifted];
    const upheld = this.#appeal === 'upheld' && this.#settled ? [this.#settled] : [];
    return this.#disabling ? [...upheld, this.#disabling] : [];
  }

  appeal = () => this.#appeal;
}

/** The decider, with the events that it made. */
class Stream {
  #state: MembershipState = disabling.initial;
  readonly #decisions: string[] = [];

  act(step: Step, now: Date): string {
    const made = disabling.decide(this.#state, this.#commandOf(step, now));
    if (isRefusal(made)) return String(made.details?.reason ?? made.refused);
    const by = 'by' in step ? step.by : 'member';
    for (const event of made) {
      const version = this.#state.version + 1;
      const recorded = {
        ...event,
        event_id: `event ${version}`,
        stream_version: version,
        recorded_at: now,
        actor:
          by === 'member'
            ? { type: 'member', id: by }
            : by === null
              ? { type: 'operator' }
              : { type: 'moderator', id: by },
      } as RecordedEvent as Parameters<typeof disabling.evolve>[1];
      this.#state = disabling.evolve(this.#state, recorded);
      const decides = event.type !== 'MemberAppealed' && event.type !== 'MemberDecisionUndone';
      if (decides) this.#decisions.push(recorded.event_id);
    }
    return 'accepted';
  }

  #commandOf(step: Step, now: Date): MembershipCommand {
    const moderatorId = 'by' in step ? step.by : null;
    switch (step.type) {
      case 'disable': {
        const until = step.seconds === null ? null : new Date(now.getTime() + step.seconds * 1000);
        const request = { policy: 'spam', message: null, until, appealed: false };
        return { type: 'DisableMember', moderatorId, now, ...request };
      }
      case 'enable':
        return { type: 'EnableMember', moderatorId, now };
      case 'appeal':
        return { type: 'AppealDisabling', ...APPEAL, now };
      case 'grant':
      case 'uphold':
        return {
          type: 'DecideMemberAppeal',
          decision: step.type,
          moderatorId,
          message: null,
          expectedVersion: this.#state.version - (step.stale ? 1 : 0),
          claimedAt: null,
          now,
        };
      case 'undo':
        return {
          type: 'UndoMemberDecision',
          of: this.#decisions.at(-1 - step.back) ?? 'none',
          me: { moderatorId: step.by, role: 'lead' },
          undoSeconds: UNDO_SECONDS,
          now,
        };
    }
  }

  disabled = (now: Date) => isDisabled(this.#state, now);
  appeal = () => this.#state.last?.appeal?.state ?? 'none';
}

const APPEAL = { appealId: 'appeal', text: 'Why?', undoSeconds: UNDO_SECONDS };

t.test('agrees with the model on disablings, appeals, answers and undos', async (t) => {
  const answers = answersOf<Step>();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (sequence) => {
      const model = new Model();
      const stream = new Stream();
      let now = START;
      for (const step of sequence) {
        now += step.wait * 1000;
        answers.agree(step, stream.act(step, new Date(now)), model.act(step, now));
        same(stream.disabled(new Date(now)), model.disabled(now));
      }
      same(stream.appeal(), model.appeal());
    }),
    tries(40_000),
  );
  for (const answer of [
    'disable accepted',
    'disable wrong_state',
    'disable second_person_required',
    'enable accepted',
    'enable wrong_state',
    'enable second_person_required',
    'appeal accepted',
    'appeal wrong_state',
    'appeal already_appealed',
    'grant accepted',
    'grant wrong_state',
    'grant second_person_required',
    'grant version_mismatch',
    'uphold accepted',
    'uphold wrong_state',
    'uphold second_person_required',
    'uphold version_mismatch',
    'undo accepted',
    'undo wrong_state',
    'undo second_person_required',
  ])
    t.ok(answers.seen.has(answer), answer);
});

t.test('lets no other role than lead undo a decision on a membership', async (t) => {
  for (const role of ['triage', 'moderator', 'auditor'] as const)
    t.match(
      disabling.decide(disabling.initial, {
        type: 'UndoMemberDecision',
        of: 'event 1',
        me: { moderatorId: 'mo', role },
        undoSeconds: UNDO_SECONDS,
        now: new Date(START),
      }),
      { refused: 'role_required' },
      role,
    );
});
