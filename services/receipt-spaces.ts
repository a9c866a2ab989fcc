import type { ReceiptSpace } from '../platform/eventstore/idempotency.ts';
import { refuse } from '../platform/refusal.ts';

/** The spaces of idempotency keys (docs/architecture/idempotency.md). */
export const RECEIPT_SPACES = {
  api: {
    name: 'api',
    holders: ['member'],
    binding: 'body and secrets',
    keyRequired: true,
    conflict: refuse('idempotency_conflict'),
  },
  register: {
    name: 'register',
    holders: ['member'],
    binding: 'body and secrets',
    keyRequired: true,
    conflict: refuse('registration_conflict'),
  },
  recover: {
    name: 'recover',
    holders: ['member'],
    binding: 'body and secrets',
    keyRequired: true,
    conflict: refuse('invalid_request', {
      issues: [{ path: 'operation_id', message: 'was used for another recovery' }],
    }),
  },
  /** Of a member's note the member has the receipt, of a guest's note the note. */
  note: {
    name: 'note',
    holders: ['member', 'guest_note'],
    binding: 'keyed content',
    keyRequired: true,
    conflict: refuse('submission_conflict'),
  },
  session: {
    name: 'session',
    holders: ['member'],
    binding: 'keyed content',
    keyRequired: false,
    conflict: refuse('idempotency_conflict'),
  },
  moderation: {
    name: 'moderation',
    holders: ['moderator'],
    binding: 'body',
    keyRequired: false,
    conflict: refuse('idempotency_conflict'),
  },
} as const satisfies Readonly<Record<string, ReceiptSpace>>;
