import type { Limit } from './rate-counters.ts';

const WINDOW_SECONDS: Readonly<Record<Limit['window'], number>> = {
  '10 minutes': 600,
  '1 hour': 3600,
  '1 day': 86_400,
};

/** What is left of a limit. `resetsIn` is in seconds. */
export interface Remaining {
  kind: string;
  remaining: number;
  resetsIn: number;
}

/**
 * Formats the limits of a request as `RateLimit-Policy`, and what is left of them as `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers-10).
 */
export function rateLimitHeaders(
  limits: readonly Limit[],
  left: readonly Remaining[],
): Record<string, string> {
  const policies = limits.map(
    ({ kind, limit, window }) => `"${kind}";q=${limit};w=${WINDOW_SECONDS[window]}`,
  );
  const items = left.map(
    ({ kind, remaining, resetsIn }) => `"${kind}";r=${remaining};t=${resetsIn}`,
  );
  return {
    'ratelimit-policy': policies.join(', '),
    ...(items.length > 0 ? { ratelimit: items.join(', ') } : {}),
  };
}

/** The details and headers of a 429 that `limit` caused. Windows begin at multiples of their length. */
export function exhausted(
  limits: readonly Limit[],
  { kind, window, limit }: Limit,
  now = new Date(),
) {
  const milliseconds = WINDOW_SECONDS[window] * 1000;
  const end = (Math.floor(now.getTime() / milliseconds) + 1) * milliseconds;
  const resetsIn = Math.ceil((end - now.getTime()) / 1000);
  return {
    details: { limit, resets_at: new Date(end).toISOString() },
    headers: rateLimitHeaders(limits, [{ kind, remaining: 0, resetsIn }]),
  };
}
