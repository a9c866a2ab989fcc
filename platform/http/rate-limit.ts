import type { Config } from '../config.ts';

/** A limit of requests in a window, by the database's clock. The routes that it counts declare it. */
export interface RateLimit {
  /** The name in `RateLimit` headers, and the kind of the limit's counters. */
  kind: string;
  window: '10 minutes' | '1 hour' | '1 day';
  /** The setting that holds the number of requests. */
  setting: Extract<keyof Config, `limit${string}`>;
  /**
   * Whose requests are counted together: those of a member (in a UTC day), of all callers, or of an
   * address. An address is an IPv4 address or an IPv6 /64; the /48 around it has `NETWORK_FACTOR`
   * times the limit.
   */
  per: 'address' | 'member' | 'service';
  /** What is counted, for the documents. */
  counts: string;
}

/** How many times the limit of an address all addresses of an IPv6 /48 have together. */
export const NETWORK_FACTOR = 10;

const WINDOWS = { '10 minutes': 'ten minutes', '1 hour': 'an hour', '1 day': 'a day' } as const;
const CALLERS = {
  address: 'from an address',
  member: 'by a member',
  service: 'by all callers',
} as const;

/** What a limit counts, in words: `registrations from an address in a day`. */
export const limitText = ({ counts, per, window }: RateLimit): string =>
  `${counts} ${CALLERS[per]} in ${WINDOWS[window]}`;

/** The code of the refusal when a limit is used up. */
export type LimitProblem<Limit extends RateLimit> = Limit extends unknown
  ? Limit['per'] extends 'member'
    ? 'write_budget_exhausted'
    : 'rate_limited'
  : never;

export const limitProblem = ({ per }: RateLimit) =>
  per === 'member' ? 'write_budget_exhausted' : 'rate_limited';
