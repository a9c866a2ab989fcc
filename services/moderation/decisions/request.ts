import { refuseUnlessActive } from '../../../domain/moderation/policy.ts';
import type { Command } from '../../../platform/eventstore/handle.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import type { PolicyRow } from '../../../projections/moderation/policies.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import type { Decided, DecideRefusal } from './contract.ts';

/** A moderator's decision on one note, record or membership. */
export type DecideCommand = Command<{ status: 201; body: Decided }, DecideRefusal, ActiveModerator>;

/** The fields that no schema can check: is the policy active, and is `until` close enough? */
export type Request = { policy: string } | { until?: string | undefined } | object;

const MAX_DEFERRED_MS = 72 * 3_600_000;

export function wrongRequest(
  request: Request,
  [policy]: readonly PolicyRow[],
  now: Date,
): Refusal<'invalid_request'> | null {
  if ('policy' in request) return refuseUnlessActive(policy);
  if (!('until' in request) || request.until === undefined) return null;
  const ahead = new Date(request.until).getTime() - now.getTime();
  return ahead > 0 && ahead <= MAX_DEFERRED_MS
    ? null
    : refuse('invalid_request', {
        issues: [{ path: 'until', message: 'must be within the next 72 hours' }],
      });
}
