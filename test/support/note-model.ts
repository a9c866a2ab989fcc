import fc from 'fast-check';

/** Moderators 0 to 2; members 0 (the author) to 2. */
export type Act =
  | {
      type:
        | 'approve'
        | 'reject'
        | 'escalate'
        | 'defer'
        | 'remove'
        | 'restore'
        | 'keep'
        | 'grant'
        | 'uphold';
    }
  | { type: 'undo'; back: number; role: 'triage' | 'moderator' | 'lead' }
  | { type: 'withdraw' | 'appeal'; member: number }
  | { type: 'report'; member: number | null; again: boolean; reason: 'spam' | 'abuse' }
  | { type: 'escalateOld' | 'endAppealPeriod' }
  | { type: 'erase'; retention: boolean };

export interface Step {
  act: Act;
  moderator: number;
  /** Seconds that pass before the command. */
  wait: number;
  /** Difference of the version that the moderator sends from the current version. */
  stale: number;
  /** Whether the note's parent, if it has one, is public now. */
  parentPublic: boolean;
}

/** The moderator with the role lead, where the role matters. */
export const LEAD = 1;
export const UNDO_SECONDS = 600;
export const DAY_SECONDS = 86_400;
const APPEAL_SECONDS = UNDO_SECONDS + 14 * DAY_SECONDS;

const of = <T extends Act['type']>(...types: T[]) => fc.constantFrom(...types);
const mostly = fc.nat(7).map((n) => n > 0);
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ type: of('approve', 'reject', 'remove') }) },
  { weight: 5, arbitrary: fc.record({ type: of('escalate', 'defer', 'restore', 'keep') }) },
  { weight: 4, arbitrary: fc.record({ type: of('grant', 'uphold') }) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: of('undo'),
      back: fc.constantFrom(0, 0, 1, 2),
      role: fc.constantFrom('triage', 'moderator', 'lead', 'lead'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: of('appeal'), member: mostly.map((own) => (own ? 0 : 1)) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: of('withdraw'), member: mostly.map((own) => (own ? 0 : 1)) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      type: of('report'),
      member: fc.constantFrom(null, 1, 2),
      again: fc.boolean(),
      reason: fc.constantFrom('spam' as const, 'abuse' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: of('escalateOld', 'endAppealPeriod') }) },
  { weight: 1, arbitrary: fc.record({ type: of('erase'), retention: fc.boolean() }) },
) as fc.Arbitrary<Act>;

export const steps = (maxSteps: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      act,
      moderator: fc.nat(2),
      wait: fc.oneof(
        { weight: 8, arbitrary: fc.constant(1) },
        { weight: 3, arbitrary: fc.constantFrom(UNDO_SECONDS - 1, UNDO_SECONDS, UNDO_SECONDS) },
        {
          weight: 2,
          arbitrary: fc.constantFrom(2 * DAY_SECONDS, APPEAL_SECONDS - 1, APPEAL_SECONDS),
        },
      ),
      stale: fc.oneof(
        { weight: 12, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.constantFrom(-1, 1) },
      ),
      parentPublic: mostly,
    }),
    { minLength: maxSteps / 4, maxLength: maxSteps },
  );

interface Review {
  tier: 'normal' | 'lead';
  deferrals: number;
  /** Second until which the note is deferred; 0 if it is not. */
  until: number;
  /** A moderator's last deferral or escalation, and the review before it. */
  last: (Decision & { what: 'deferral' | 'escalation'; before: Review }) | null;
}

interface Decision {
  event: number;
  by: number;
  at: number;
}

interface Report {
  reason: string;
  version: number;
}

/** The latest dismissal of reports, and what waited and was dismissed before it. */
interface Keep extends Decision {
  waiting: Report[];
  kept: string[];
}

/** A public note's approval, dismissal of reports, or granted appeal. */
interface Public {
  approval: Decision | null;
  keep: Keep | null;
  grant: Grant | null;
}

/** The grant that made the note public, and the refusal that its undo restores. */
interface Grant extends Decision {
  state: 'rejected' | 'removed';
  refusal: Decision | null;
  before: Public;
  settled: Report[];
}

const NOT_PUBLIC: Public = { approval: null, keep: null, grant: null };

const NEW: Review = { tier: 'normal', deferrals: 0, until: 0, last: null };

/**
 * A minimal model of a note's states and refusals: no events, and only as much of the past as an
 * undo needs. It shares no code with the service.
 */
export class NoteModel {
  state: 'pending' | 'approved' | 'rejected' | 'removed' | 'withdrawn' = 'pending';
  version = 1;
  review = NEW;
  erased = false;
  appeal: 'none' | 'open' | 'upheld' | 'over' = 'none';
  waiting: Report[] = [];
  /** The version after the last event that was no report and no step of an appeal. */
  #reviewed = 1;
  readonly #reply: boolean;
  kept = new Set<string>();
  /** The kinds of review steps and answers that were undone. */
  readonly brought = new Set<string>();
  readonly #reporters = new Set<number>();
  /** The current decision, which can be undone, and the state that its undo restores. */
  #decision: Decision | null = null;
  /** What the undo of a removal restores. */
  #public: Public = NOT_PUBLIC;
  #keep: Keep | null = null;
  /** The decision that upheld the refusal in force. */
  #upheld: Decision | null = null;
  #grant: Grant | null = null;
  #settled: Report[] = [];

  constructor(reply: boolean) {
    this.#reply = reply;
  }

  /** Applies the command if it is allowed, and returns the outcome. */
  act({ act, moderator, stale, parentPublic }: Step, now: number): string {
    const public_ = !this.#reply || parentPublic;
    switch (act.type) {
      case 'undo':
        return this.#undo(act, moderator, stale, public_, now);
      case 'withdraw':
        if (act.member !== 0) return 'not_found';
        if (this.state === 'withdrawn') return 'nothing';
        if (!['pending', 'approved'].includes(this.state) && !this.#untold(now))
          return 'wrong_state';
        return this.#become('withdrawn', null);
      case 'appeal':
        return this.#appealed(act.member, now);
      case 'report':
        return this.#reported(act, public_);
      case 'escalateOld':
        if (this.state !== 'pending' || this.review.tier === 'lead') return 'nothing';
        return now < this.review.until ? 'nothing' : this.#escalate(null);
      case 'endAppealPeriod': {
        const over = this.#decision !== null && now >= this.#decision.at + APPEAL_SECONDS;
        if (!this.#refused() || this.appeal !== 'none' || !over) return 'nothing';
        this.appeal = 'over';
        return this.#stepBeside();
      }
      case 'erase':
        if (this.erased || !['rejected', 'removed', 'withdrawn'].includes(this.state))
          return 'nothing';
        if (this.appeal === 'open' && act.retention) return 'nothing';
        this.erased = true;
        // Without its text, the appeal cannot be decided.
        if (this.appeal === 'open') this.appeal = 'none';
        return this.#step();
      default:
        return this.#review(act.type, moderator, stale, public_, now);
    }
  }

  #refused = () => this.state === 'rejected' || this.state === 'removed';

  /** Rejected within the undo window, so its author cannot know yet. */
  #untold = (now: number) =>
    this.state === 'rejected' && this.#decision !== null && now < this.#decision.at + UNDO_SECONDS;

  #review(
    type: Act['type'],
    by: number,
    stale: number,
    parentPublic: boolean,
    now: number,
  ): string {
    const seen = this.waiting.filter(({ version }) => version <= this.version + stale);
    const fits: Partial<Record<Act['type'], boolean>> = {
      remove: this.state === 'approved',
      keep: this.state === 'approved' && seen.length > 0,
      restore: this.state === 'removed' && !this.erased,
      grant: this.appeal === 'open',
      uphold: this.appeal === 'open',
    };
    if (this.#isOutdated(stale)) return 'version_mismatch';
    if (!(fits[type] ?? this.state === 'pending')) return 'wrong_state';
    const decision = { event: this.version + 1, by, at: now };
    const second = this.#decision !== null && this.#decision.by !== by;
    switch (type) {
      case 'approve':
        return parentPublic ? this.#become('approved', decision) : 'parent_not_public';
      case 'reject':
        this.#settled = this.waiting;
        return this.#become('rejected', decision);
      case 'escalate':
        return this.#escalate(decision);
      case 'defer':
        if (this.review.deferrals >= 3 && !(this.review.tier === 'lead' && by === LEAD))
          return this.#escalate(decision);
        this.review = {
          tier: this.review.tier,
          deferrals: this.review.deferrals + 1,
          until: now + DAY_SECONDS,
          last: { ...decision, what: 'deferral', before: this.review },
        };
        return this.#step();
      case 'remove':
        this.#public = { approval: this.#decision, keep: this.#keep, grant: this.#grant };
        this.#settled = this.waiting;
        return this.#become('removed', decision);
      case 'keep':
        this.#keep = { ...decision, waiting: this.waiting, kept: [...this.kept] };
        for (const { reason } of seen) this.kept.add(reason);
        this.waiting = this.waiting.filter((one) => !seen.includes(one));
        return this.#step();
      case 'uphold':
        if (!second) return 'second_person_required';
        this.appeal = 'upheld';
        this.#upheld = decision;
        return this.#step();
      case 'grant': {
        if (!second) return 'second_person_required';
        const state = this.state as 'rejected' | 'removed';
        const refused = { refusal: this.#decision, before: this.#public, settled: this.#settled };
        this.#become('approved', null);
        this.#grant = { ...decision, ...refused, state };
        return 'accepted';
      }
      default:
        return second ? this.#become('approved', null) : 'second_person_required';
    }
  }

  #undo(
    act: Extract<Act, { type: 'undo' }>,
    by: number,
    stale: number,
    parentPublic: boolean,
    now: number,
  ): string {
    const { state } = this;
    if (state === 'pending') return this.#bringBack(act, by, stale, now);
    const answers = [this.#keep, this.#upheld, this.#grant];
    const undone = [this.#decision, ...answers].find(
      (one) => one?.event === this.version - act.back,
    );
    if (!undone || this.erased) return 'wrong_state';
    const lead = act.role === 'lead';
    const own = undone.by === by;
    if (!lead && (act.role === 'triage' || !own)) return 'role_required';
    const over = now >= undone.at + UNDO_SECONDS || this.appeal === 'open';
    // The one who refused the note cannot overrule the answer to the appeal.
    const refusal = undone === this.#grant ? this.#grant.refusal : this.#decision;
    const reviewed = undone === this.#grant || undone === this.#upheld ? refusal : null;
    if (!own && reviewed?.by === by) return 'second_person_required';
    if (own && over) return lead ? 'second_person_required' : 'undo_expired';
    if (this.#isOutdated(stale)) return 'version_mismatch';
    if (undone !== this.#decision) return this.#reopen(undone);
    const granted = this.appeal === 'open';
    if (granted && state === 'rejected' && !parentPublic) return 'parent_not_public';
    if (state === 'removed') {
      const reports = this.#settled;
      const { approval, keep, grant } = this.#public;
      this.#become('approved', granted ? null : approval);
      this.waiting = reports;
      if (!granted) this.#keep = keep;
      if (!granted) this.#grant = grant;
      // Followed by the restoration, or by the granted appeal.
      return this.#step();
    }
    const reports = state === 'rejected' ? this.#settled : this.waiting;
    this.#become('pending', null);
    this.waiting = reports;
    return granted ? this.#become('approved', null) : 'accepted';
  }

  /** Undoes an answer to reports or to an appeal, which waits again. */
  #reopen(of: Decision): string {
    if (of === this.#keep) {
      const { waiting, kept } = this.#keep;
      this.waiting = [...waiting, ...this.waiting.filter((one) => !waiting.includes(one))];
      this.kept = new Set(kept);
      this.#keep = null;
      this.brought.add('keep');
    } else if (of === this.#upheld) {
      this.appeal = 'open';
      this.#upheld = null;
      this.brought.add('uphold');
    } else if (this.#grant) {
      const { state, refusal, before, settled } = this.#grant;
      const reports = [...settled, ...this.waiting];
      this.#become(state, refusal);
      this.#public = before;
      this.#settled = reports;
      this.appeal = 'open';
      this.brought.add('grant');
      return 'accepted';
    }
    return this.#step();
  }

  /** Undoes a deferral or an escalation: the note regains its old place, or is due. */
  #bringBack(act: Extract<Act, { type: 'undo' }>, by: number, stale: number, now: number): string {
    const { last, until } = this.review;
    if (last?.event !== this.version - act.back) return 'wrong_state';
    const deferral = last.what === 'deferral';
    if (deferral && now >= until) return 'wrong_state';
    const lead = act.role === 'lead';
    if (!lead && last.by !== by) return 'role_required';
    if (last.by === by && now >= last.at + UNDO_SECONDS)
      return lead ? 'second_person_required' : 'undo_expired';
    if (this.#isOutdated(stale)) return 'version_mismatch';
    this.review = deferral ? { ...last.before, until: 0 } : last.before;
    this.brought.add(last.what);
    return this.#step();
  }

  #appealed(member: number, now: number): string {
    if (member !== 0) return 'not_found';
    if (!this.#refused()) return 'wrong_state';
    if (this.appeal === 'open' || this.appeal === 'upheld') return 'already_appealed';
    const late = this.#decision !== null && now >= this.#decision.at + APPEAL_SECONDS;
    if (this.appeal === 'over' || late || this.erased || this.#untold(now)) return 'wrong_state';
    this.appeal = 'open';
    return this.#stepBeside();
  }

  #reported(
    { member, again, reason }: Extract<Act, { type: 'report' }>,
    readable: boolean,
  ): string {
    if (this.state !== 'approved' || !readable) return 'not_found';
    if (member === null ? again : this.#reporters.has(member)) return 'nothing';
    if (member !== null) this.#reporters.add(member);
    if (!this.kept.has(reason))
      this.waiting = [...this.waiting, { reason, version: this.version + 1 }];
    return this.#stepBeside();
  }

  /** By a moderator, or by the service (null), whose escalations cannot be undone. */
  #escalate(by: Decision | null): string {
    const last = by && { ...by, what: 'escalation' as const, before: this.review };
    this.review = { ...this.review, tier: 'lead', until: 0, last };
    return this.#step();
  }

  #become(state: typeof this.state, decision: Decision | null): string {
    if (state !== 'approved' && state !== 'pending') this.waiting = [];
    this.state = state;
    this.#decision = decision;
    this.#keep = null;
    this.#upheld = null;
    this.#grant = null;
    this.appeal = 'none';
    return this.#step();
  }

  #step(): string {
    this.#reviewed = this.version + 1;
    return this.#stepBeside();
  }

  /** A report, or a step of an appeal: no reason to refuse a decision. */
  #stepBeside(): string {
    this.version++;
    return 'accepted';
  }

  #isOutdated(stale: number): boolean {
    const expected = this.version + stale;
    return expected < this.#reviewed || expected > this.version;
  }
}
