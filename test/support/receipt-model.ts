import fc from 'fast-check';
import { newCredential } from '../../harness/agent.ts';

export const WRITES = 2;

export interface Step {
  member: number;
  /** Which of five idempotency keys. */
  key: number;
  /** `retract` is the withdrawal of an artifact that is not there: never done, with the body of `withdraw`. */
  type: 'publish' | 'withdraw' | 'retract' | 'credential';
  /** Which of two bodies; of a credential: which of two secrets. */
  body: number;
  /** Which of three credential ids. */
  id: number;
  /** The version that the profile is believed to have, as far from the right one; null for none. */
  stale: number | null;
  /** The members of the body the other way about, the key in capitals: still the same request. */
  turned: boolean;
}

/** Requests of two members with few keys and few bodies, so that they meet. */
export const steps = (most: number): fc.Arbitrary<Step[]> =>
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
    { minLength: most / 2, maxLength: most },
  );

export const NO_ARTIFACT = 'c0000000-0000-4000-8000-000000000000';
const SECRETS = ['a'.repeat(64), 'b'.repeat(64)];

/** What each of the two members sends; `credentials` are three of the member's own. */
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
 * CONTRACT.md, sections 1 (checks 11 to 13) and 6, for one member: the first request under a key
 * that changed something stands for ever, before the budget and before what the state would say.
 */
export class ReceiptModel {
  version = 0;
  used = 0;
  /** Things that happened. */
  events = 0;
  #published = false;
  readonly #kept = new Map<number, string>();
  readonly #credentials = new Set<number>();

  /** What the member believes the profile's version to be. */
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

/** Tried first: it meets every one of them, which a few sequences made by chance may not. */
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
