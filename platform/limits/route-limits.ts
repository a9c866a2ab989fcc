import type { Config } from '../config.ts';
import type { RateLimit } from '../http/rate-limit.ts';
import type { LimitOf, Route } from '../http/route.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { Sql } from '../sql.ts';
import type { Limit, RateLimits, Taken } from './rate-limits.ts';

export type RouteLimits = ReturnType<typeof routeLimits>;

/** The part of a call that is counted. */
export interface CountedCall<R extends Route> {
  route: R;
  request: { address: string };
}

/**
 * Counts requests in limits that their routes declare (`Route.limits`), with the numbers of the
 * configuration. Throws if a handler counts a limit that its route does not declare.
 */
export function routeLimits(rateLimits: RateLimits, config: Config) {
  const { take, giveBack, giveBackLater, countersOf, bucketsOf, networkBucketOf } = rateLimits;

  const toLimit = ({ kind, window, per, setting }: RateLimit): Limit => ({
    kind,
    window,
    limit: config[setting],
    ...(per === 'service' ? { scope: per } : {}),
  });

  function declared<R extends Route>({ route }: CountedCall<R>, limits: readonly LimitOf<R>[]) {
    for (const limit of limits)
      if (!route.limits?.some(({ kind }) => kind === limit.kind))
        throw new Error(`${route.method} ${route.path} does not declare the limit ${limit.kind}`);
    return limits.map(toLimit);
  }

  return {
    bucketsOf,
    networkBucketOf,
    toLimit,

    /** Counts one request in every limit; see `RateLimits.take`. */
    take: <R extends Route>(
      call: CountedCall<R>,
      limits: readonly LimitOf<R>[],
      unless?: Sql,
    ): Promise<Taken> => take(call.request.address, declared(call, limits), unless),

    /**
     * Counts one request in every limit and does its work, or refuses it. The headers of the
     * outcome tell what is left. Throws `StorageUnavailable`.
     */
    async within<R extends Route, const Result extends object>(
      call: CountedCall<R>,
      limits: readonly LimitOf<R>[],
      work: () => Promise<Result>,
    ): Promise<(Result | Refusal<'rate_limited'>) & Pick<Taken, 'headers'>> {
      const { counted, headers, details } = await take(
        call.request.address,
        declared(call, limits),
      );
      const outcome: (Result | Refusal<'rate_limited'>) & { headers?: Taken['headers'] } = counted
        ? await work()
        : refuse('rate_limited', details);
      return { ...outcome, headers: { ...headers, ...outcome.headers } };
    },

    /** Reverts `take`, for a command that failed. Throws `StorageUnavailable`. */
    giveBack: <R extends Route>(call: CountedCall<R>, limits: readonly LimitOf<R>[]) =>
      giveBack(call.request.address, declared(call, limits)),

    /** Reverts `take` after a storage failure; see `RateLimits.giveBackLater`. */
    giveBackLater: <R extends Route>(call: CountedCall<R>, limits: readonly LimitOf<R>[]) =>
      giveBackLater(call.request.address, declared(call, limits)),

    /** The counters of a request, for a command that checks and counts them itself. */
    countersOf: <R extends Route>(call: CountedCall<R>, limits: readonly LimitOf<R>[]) =>
      countersOf(call.request.address, declared(call, limits)),
  };
}
