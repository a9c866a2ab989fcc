import fc from 'fast-check';
import { newCredential } from '../../harness/agent.ts';

export const WRITES = 2;

export interface Step {
  member: number;
  /** Which of five idempotency keys. */
  key: number;
  /** `retract` withdraws a missing artifact: always refused, with the same body as `withdraw`. */
  type: 'publish' | 'withdraw' | 'retract' | 'credential';
  /** Which of two bodies; for a credential, which of two secrets. */
  body: number;
  /** Which of three credential ids. */
  id: number;
  /** Difference of `expected_version` from the profile's version; null sends no version. */
  stale: number | null;
  /** Reverses the body's members and upper-cases the key: still the same request. */
  turned: boolean;
}

/** Requests of two members with few keys and few bodies, so that requests collide. */
export const steps = (maxSteps: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      member: fc.nat(1),
      key: fc.nat(4),
      type: fc.constantFrom('publish', 'publish', 'withdraw', 'retract', 'credential'),
      body: fc.nat(1),
      id: fc.nat(2),
      stale: fc.constantFrom(null, null, 0, 1),
      turned: fc.boolean(),
    }),
    { minLength: maxSteps / 2, maxLength: maxSteps },
  );

export const NO_ARTIFACT = 'c0000000-0000-4000-8000-000000000000';
const SECRETS = ['a'.repeat(64), 'b'.repeat(64)];

/** The body of a step's request; `credentials` are the member's three credentials. */
export function bodyOf(
  { type, body, id, turned }: Step,
  expected: number | undefined,
  credentials: readonly ReturnType<typeof newCredential>[],
): Record<string, unknown> {
  const made = {
    publish: () => ({
      display_name: ['Ada', 'Bob'][body],
      summary: 'What I do',
      links: [],
      capabilities: [],
      visibility: 'public',
      publish_consent: true,
      policy_version: 'service-public-v1',
      ...(expected === undefined ? {} : { expected_version: expected }),
    }),
    withdraw: () => ({}),
    retract: () => ({}),
    credential: () => ({ ...credentials[id], credential_secret: SECRETS[body] }),
  }[type]();
  return Object.fromEntries(turned ? Object.entries(made).reverse() : Object.entries(made));
}

export const credentialsFor = () =>
  Array.from({ length: 3 }, () => newCredential(['updates:read']));

/**
 * A model of receipts for one member: the first successful request under an idempotency key is
 * replayed on every retry, before the write budget and the current state are checked.
 */
export class ReceiptModel {
  version = 0;
  used = 0;
  /** Number of accepted requests. */
  events = 0;
  #published = false;
  readonly #kept = new Map<number, string>();
  readonly #credentials = new Set<number>();

  /** The `expected_version` that the member sends, if any. */
  expected({ type, stale }: Step): number | undefined {
    return type === 'publish' && stale !== null ? this.version + stale : undefined;
  }

  act(step: Step, expected: number | undefined): string {
    const { key, type, body, id } = step;
    const detail = { publish: [body, expected], withdraw: [], retract: [], credential: [id, body] }[
      type
    ];
    const request = JSON.stringify([type, ...detail]);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept === request ? 'replayed' : 'idempotency_conflict';
    const refused = this.#refusal(step, expected);
    if (refused) return refused;
    if (type === 'credential') this.#credentials.add(id);
    else {
      this.version++;
      this.used++;
      this.#published = type === 'publish';
    }
    this.events++;
    this.#kept.set(key, request);
    return 'accepted';
  }

  #refusal({ type, id }: Step, expected: number | undefined): string | undefined {
    if (type === 'credential') return this.#credentials.has(id) ? 'credential_id_used' : undefined;
    if (type === 'retract') return 'not_found';
    if (type === 'withdraw' && !this.#published) return 'wrong_state';
    if (expected !== undefined && expected !== this.version) return 'version_mismatch';
    return this.used >= WRITES ? 'write_budget_exhausted' : undefined;
  }
}

export const ANSWERS = [
  'publish accepted',
  'publish replayed',
  'publish idempotency_conflict',
  'publish version_mismatch',
  'publish write_budget_exhausted',
  'withdraw accepted',
  'withdraw replayed',
  'withdraw idempotency_conflict',
  'withdraw wrong_state',
  'retract idempotency_conflict',
  'retract not_found',
  'credential accepted',
  'credential replayed',
  'credential idempotency_conflict',
  'credential credential_id_used',
];

const step = (key: number, type: Step['type'], more: Partial<Step> = {}): Step => ({
  ...{ member: 0, key, type, body: 0, id: 0, stale: null, turned: false },
  ...more,
});

/** Tried first, since it yields every answer, which a few random sequences may not. */
export const EVERY_ANSWER: Step[] = [
  step(0, 'withdraw'),
  step(0, 'publish'),
  step(0, 'publish'),
  step(0, 'publish', { body: 1 }),
  step(1, 'publish', { stale: 1 }),
  step(1, 'withdraw'),
  step(1, 'withdraw'),
  step(0, 'withdraw'),
  step(2, 'publish'),
  step(2, 'retract'),
  step(0, 'retract'),
  step(2, 'credential'),
  step(2, 'credential', { turned: true }),
  step(2, 'credential', { body: 1 }),
  step(3, 'credential'),
];
