import type { Call, Content } from '../../../platform/http/route.ts';

/** A request for what is the same for all readers. */
export type Shared = Pick<Call, 'operation' | 'request' | 'route'> & {
  params?: unknown;
  query?: unknown;
};

/** A reply that concurrent readers share. */
export interface Shown {
  status: 200;
  content: Content;
  headers?: Record<string, string>;
}

/** What was asked for, in one form. */
export const addressOf = ({ operation, params, query }: Shared): string =>
  JSON.stringify([operation, params, query]);
