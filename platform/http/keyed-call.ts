import { fillPath, type RequestContext, type Route } from './route.ts';
import type { JsonObject } from './strict-json.ts';

/** A call that may have an `Idempotency-Key`, as policies need it; the `Call` of a handler satisfies it. */
export interface KeyedCall<R extends Route = Route> {
  operation: string;
  route: R;
  params: unknown;
  sent: JsonObject;
  request: Pick<RequestContext, 'idempotencyKey'>;
}

/** The refusal of a key that another request has used, if the route takes a key. */
export type KeyConflict<R extends Route> = unknown extends R['idempotency']
  ? never
  : 'idempotency_conflict';

/** What the receipt of a call is found and bound by, except for whose it is. */
export const requestOf = ({ operation, route, params, sent, request }: KeyedCall) => ({
  key: request.idempotencyKey,
  operation,
  route: `${route.method} ${fillPath(route, params)}`,
  sent,
});

/** The headers of a response that repeats an earlier answer. */
export const REPLAYED = { 'idempotency-replayed': 'true' };

/** The response that repeats an earlier answer as its receipt stores it. */
export const replayed = <Reply>(stored: { status: number; body: unknown }): Reply =>
  ({ ...stored, headers: REPLAYED }) as Reply;

/** The header of a response that replays an `Idempotency-Key`, for the OpenAPI document. */
export const REPLAYED_HEADER = {
  'Idempotency-Replayed': 'true, where this is the answer of an earlier request',
};
