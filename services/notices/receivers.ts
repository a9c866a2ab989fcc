import { createHash } from 'node:crypto';
import type { NoticeShape, NoticeTarget } from '../../platform/notice-urls.ts';

/** An address that the operator wants to be called at. */
export interface Receiver {
  /** Identifies the address in the database; does not show it. */
  key: string;
  /** For logs, metrics and people: its place in `NOTIFY_URLS` and its host. */
  name: string;
  url: URL;
  shape: NoticeShape;
  /** The key of the signature. */
  secret: Buffer;
}

/** The receivers of `NOTIFY_URLS`, in that order. */
export const receiversOf = (targets: readonly NoticeTarget[]): Receiver[] =>
  targets.map(({ url, shape, secret }, index) => ({
    key: createHash('sha256').update(`${shape} ${url.href}`).digest('hex').slice(0, 32),
    name: `${index + 1} ${url.hostname}`,
    url,
    shape,
    secret,
  }));
