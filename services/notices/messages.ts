import { createHash, createHmac } from 'node:crypto';
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

export const NOTICE_KINDS = ['waiting', 'overdue', 'report', 'appeal', 'dead_job'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** What happened of one kind since the last call: how often, and to what (the first 50). */
export interface Notice {
  kind: NoticeKind;
  count: number;
  ids: { type: string; id: string }[];
}

/** A message to a receiver, kept until it is accepted, so that each attempt sends the same. */
export interface PendingMessage {
  id: string;
  /** ISO 8601. */
  at: string;
  notices: Notice[];
}

const WORDS: Readonly<Record<NoticeKind, readonly [one: string, many: string]>> = {
  waiting: ['note arrived', 'notes arrived'],
  overdue: ['note is waiting for more than a day', 'notes are waiting for more than a day'],
  report: ['report', 'reports'],
  appeal: ['appeal', 'appeals'],
  dead_job: ['job failed for the last time', 'jobs failed for the last time'],
};

/** Body and headers of a call, in the receiver's shape, signed as Standard Webhooks. */
export function toCall(
  { shape, secret }: Receiver,
  message: PendingMessage,
  baseUrl: string,
  now: Date,
) {
  const link = `${baseUrl}/moderation`;
  const line = message.notices
    .map(({ kind, count }) => `${count} ${WORDS[kind][count === 1 ? 0 : 1]}`)
    .join(', ');
  const { body, headers } = {
    standard: () => ({
      body: JSON.stringify({
        type: 'moderation.notices',
        timestamp: message.at,
        data: { notices: message.notices, link },
      }),
      headers: { 'content-type': 'application/json' },
    }),
    ntfy: () => ({
      body: line,
      headers: { 'content-type': 'text/plain; charset=utf-8', title: 'Moderation', click: link },
    }),
    slack: () => textMessage(`${line}: ${link}`),
    matrix: () => textMessage(`${line}: ${link}`),
  }[shape]();
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = createHmac('sha256', secret)
    .update(`${message.id}.${timestamp}.${body}`)
    .digest('base64');
  return {
    body,
    headers: {
      ...headers,
      'user-agent': 'moderation-notices',
      'webhook-id': message.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    },
  };
}

/** What incoming webhooks of Slack, and hookshot for Matrix, take. */
const textMessage = (text: string) => ({
  body: JSON.stringify({ text }),
  headers: { 'content-type': 'application/json' },
});
