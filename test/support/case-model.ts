import fc from 'fast-check';

/** Number of members; member 0 is the author. */
export const MEMBER_COUNT = 3;

export type Act =
  | { type: 'claim'; seconds: number }
  | { type: 'review'; decision: 'accept' | 'request_changes' | 'reject' }
  | { type: 'release' }
  | { type: 'submit' }
  | { type: 'withdraw' };

export interface Step {
  member: number;
  act: Act;
  /** Seconds that pass before the command. */
  wait: number;
  /** Difference of the version that the member sends from the current version. */
  stale: number;
}

const often = <T>(value: T) => ({ weight: 8, arbitrary: fc.constant(value) });

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(300, 600).map((seconds) => ({ type: 'claim' as const, seconds })),
  },
  { weight: 2, arbitrary: fc.constant({ type: 'release' as const }) },
  { weight: 4, arbitrary: fc.constant({ type: 'submit' as const }) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom('accept' as const, 'request_changes' as const, 'reject' as const)
      .map((decision) => ({ type: 'review' as const, decision })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'withdraw' as const }) },
);

/**
 * Random commands by a few members, most with the current version. Now and then time passes, at
 * times up to `spare` seconds before a lease ends: the time that the test itself may take.
 */
export function steps(maxSteps: number, spare = 1): fc.Arbitrary<Step[]> {
  return fc.array(
    fc.record({
      member: fc.nat(MEMBER_COUNT - 1),
      act,
      wait: fc.oneof(often(0), { weight: 2, arbitrary: fc.constantFrom(300 - spare, 300, 1000) }),
      stale: fc.oneof(often(0), { weight: 1, arbitrary: fc.constantFrom(-1, 1) }),
    }),
    { minLength: 1, maxLength: maxSteps },
  );
}

/**
 * A minimal model of a case's states and refusals: no events, and leases that end by the clock
 * alone. It shares no code with the service.
 */
export class CaseModel {
  #state = 'open';
  #version = 1;
  #holder: number | null = null;
  #seconds = 0;
  #end = 0;
  /** The member whose lease expired last, until the next claim. */
  #late: number | null = null;

  #tick(second: number): void {
    if (this.#state === 'claimed' && second >= this.#end) this.#open(this.#holder);
  }

  #open(late: number | null): void {
    this.#state = 'open';
    this.#late = late;
    this.#holder = null;
    this.#version++;
  }

  versionAt(second: number): number {
    this.#tick(second);
    return this.#version;
  }

  shownAt(second: number) {
    this.#tick(second);
    const claimed = this.#state === 'claimed';
    return { state: this.#state, version: this.#version, holder: claimed ? this.#holder : null };
  }

  /** Applies an allowed command and returns `accepted`; otherwise returns the refusal's reason. */
  act(
    { member, act }: Pick<Step, 'member' | 'act'>,
    expectedVersion: number,
    second: number,
  ): string {
    this.#tick(second);
    const refused = this.#refusal(member, act, expectedVersion);
    if (refused) return refused;
    if (act.type === 'claim') {
      const extended = this.#state === 'claimed';
      this.#end = Math.max(extended ? this.#end : 0, second + act.seconds);
      this.#seconds = Math.max(extended ? this.#seconds : 0, act.seconds);
      this.#move('claimed', member);
    } else if (act.type === 'release') this.#open(null);
    else if (act.type === 'submit') this.#move('submitted', member);
    else if (act.type === 'withdraw') this.#move('withdrawn', null);
    else if (act.type === 'review' && member === 0) this.#decided(act.decision, second);
    return 'accepted';
  }

  #decided(decision: 'accept' | 'request_changes' | 'reject', second: number): void {
    if (decision === 'reject') this.#open(null);
    else if (decision === 'accept') this.#move('accepted', null);
    else {
      this.#end = second + this.#seconds;
      this.#move('claimed', this.#holder);
    }
  }

  #move(state: string, holder: number | null): void {
    this.#state = state;
    this.#holder = holder;
    this.#late = null;
    this.#version++;
  }

  #refusal(member: number, act: Act, expectedVersion: number): string | undefined {
    const state = this.#state;
    const mine = state === 'claimed' && this.#holder === member;
    const version = expectedVersion === this.#version ? undefined : 'version_mismatch';
    switch (act.type) {
      case 'claim':
        if (state !== 'open' && !mine) return 'wrong_state';
        return member === 0 ? 'own_case' : version;
      case 'release':
      case 'submit':
        if (state === 'open' && this.#late === member) return 'lease_expired';
        if (state !== 'claimed') return 'wrong_state';
        return mine ? version : 'not_claimant';
      case 'review':
        if (state !== 'submitted') return 'wrong_state';
        return this.#holder === member ? 'own_submission' : version;
      case 'withdraw':
        if (state !== 'open') return 'wrong_state';
        return member === 0 ? version : 'not_author';
    }
  }
}
