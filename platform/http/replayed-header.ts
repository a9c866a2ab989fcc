/** The header of an answer that an `Idempotency-Key` brought back. */
export const REPLAYED = {
  'Idempotency-Replayed': 'true, where this is the answer of an earlier request',
};
