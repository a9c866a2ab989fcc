import fc from 'fast-check';

/** What a key was used for, and what was answered. */
interface Kept {
  request: string;
  answer: string;
}

/**
 * CONTRACT.md, section 6: of each member and key the first request that changed something, for ever.
 * `fresh` answers what the request comes to where no receipt stands in its way, and whether it is kept.
 */
export class ReceiptModel {
  readonly #kept = new Map<string, Kept>();

  act(
    member: number,
    key: number,
    request: string,
    fresh: () => { answer: string; kept: boolean },
  ): { answer: string; replayed: boolean } {
    const at = `${member} ${key}`;
    const kept = this.#kept.get(at);
    if (kept)
      return kept.request === request
        ? { answer: kept.answer, replayed: true }
        : { answer: 'idempotency_conflict', replayed: false };
    const first = fresh();
    if (first.kept) this.#kept.set(at, { request, answer: first.answer });
    return { answer: first.answer, replayed: false };
  }
}

/** Requests of two members with few keys and few bodies, so that they meet. */
export const requests = (most: number) =>
  fc.array(
    fc.record({
      member: fc.nat(1),
      key: fc.nat(3),
      type: fc.constantFrom('publish' as const, 'withdraw' as const, 'rotate' as const),
      /** Which of three bodies; with `rotate`, which of three secrets under one id. */
      body: fc.nat(2),
      /** The version that the member believes to replace, as far from the right one; null for none. */
      stale: fc.constantFrom(null, null, null, 0, 1),
      /** The members of the body the other way about, and the key in capitals: the same request. */
      turned: fc.boolean(),
    }),
    { minLength: 1, maxLength: most },
  );
