import { z } from 'zod';
import { CONFLICT_REASONS, conflict } from '../../domain/conflict.ts';
import { SCOPES } from '../../domain/permissions.ts';
import { documentProblems } from '../../platform/http/openapi-responses.ts';
import { AnyUuid, Timestamp, UnixSeconds } from '../../platform/http/schemas.ts';
import { END_REASONS } from '../../projections/membership/ended-verifiers.ts';

const ActiveCredential = z
  .object({ credential_id: AnyUuid, expires_at: UnixSeconds })
  .meta({ id: 'ActiveCredential' });

/** The details of errors and their examples, for the OpenAPI document. */
export const PROBLEM_DOCUMENTS = documentProblems(
  {
    reason: z
      .enum([...CONFLICT_REASONS, ...END_REASONS])
      .optional()
      .describe(
        'With `state_conflict`: what is in the way. With 401, for 30 days after the end of a credential or session whose secret verifies: `expired` or `revoked`; with the key or secret of a disabled membership `membership_disabled`',
      ),
    member_id: AnyUuid.optional().describe(
      'With `membership_disabled` after a sign-in with the handle: the id that …/disabled takes',
    ),
    current_state: z.string().optional().describe('With `wrong_state`'),
    current_version: z.int().optional().describe('With `version_mismatch` and `wrong_state`'),
    kept_through: z
      .int()
      .optional()
      .describe('With `cursor_reset`: the last sequence, or position, that was kept'),
    epoch: z.int().optional().describe('With `cursor_reset`: the present epoch of the log'),
    cursor: z.string().optional().describe('With `cursor_reset`: the cursor to continue from'),
    scope: z.enum(SCOPES).optional().describe('With `scope_required`: the missing scope'),
    scopes: z
      .array(z.enum(SCOPES))
      .optional()
      .describe('With `scope_escalation`: the scopes that the current credential lacks'),
    roles: z
      .array(z.string())
      .optional()
      .describe('With `role_required`: the roles that may do this'),
    expected_origin: z
      .string()
      .optional()
      .describe('With `origin_not_allowed` where `Origin` is required: the address to send'),
    limit_bytes: z.int().optional().describe('With `body_too_large`'),
    limit: z
      .int()
      .optional()
      .describe('With `active_credential_limit` and every 429: how many are allowed'),
    used: z.int().optional().describe('With `write_budget_exhausted`: writes of this day'),
    resets_at: Timestamp.optional().describe('With the 429 of a window: when it ends'),
    active_credentials: z
      .array(ActiveCredential)
      .optional()
      .describe('With `active_credential_limit`: the credentials that count'),
    retry_after: z.int().optional().describe('With 429: seconds to wait'),
  },
  {
    invalid_request: { issues: [{ path: 'title', message: 'must not be empty' }] },
    query_not_allowed: { issues: [{ path: 'sort', message: 'unknown query parameter' }] },
    scope_required: { scope: 'case:create' },
    scope_escalation: { scopes: ['account:delete'] },
    role_required: { roles: ['lead'] },
    state_conflict: conflict('version_mismatch', { current_version: 3 }).details ?? {},
    body_too_large: { limit_bytes: 65_536 },
    write_budget_exhausted: { limit: 200, used: 200, resets_at: '2026-09-13T00:00:00.000Z' },
  },
);
