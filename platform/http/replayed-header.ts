/** The header of a response that replays an `Idempotency-Key`, for the OpenAPI document. */
export const REPLAYED_HEADER = {
  'Idempotency-Replayed': 'true, where this is the answer of an earlier request',
};
