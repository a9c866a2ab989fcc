import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { definePolicy } from '../../platform/eventstore/handle.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { refuse } from '../../platform/refusal.ts';
import { findLiveSession } from '../membership/sessions.ts';
import type { PublicationKind } from '../publications/publication-kind.ts';
import type { ReportRequest } from './contract.ts';
import { type ReportPolicy, reportRecord } from './report.ts';

/**
 * Reports a record as the member of a session, from a page. No key is needed: a second report of the same
 * record by the member changes nothing.
 */
export function reportRecordInSession(
  { store, keys }: { store: EventStore; keys: KeyRing },
  of: PublicationKind,
  { memberId, sessionId }: PrincipalOf<'session'>,
  request: ReportRequest,
) {
  const operation = 'report.create';
  const policy: ReportPolicy<'session_required'> = definePolicy({
    actor: { type: 'member', id: memberId },
    lock: [memberId],
    load: { session: findLiveSession(sessionId) },
    prove: ({ session: [row] }) =>
      row?.member_id === memberId ? null : refuse('session_required'),
    request: {
      owner: memberOwner(memberId),
      space: 'session',
      key: undefined,
      operation,
      route: 'POST /report',
      sent: {},
      keys,
    },
    repeat: () => {
      throw new Error('a request without a key has no receipt');
    },
    charge: (_, { now, bodyHash }) => ({
      rows: [],
      give: (events) => ({
        operation_id: '',
        operation,
        member_id: memberId,
        recorded_at: now.toISOString(),
        body_hash: bodyHash(),
        event_ids: events.map(({ event_id }) => event_id),
      }),
      headers: {},
    }),
  });
  return reportRecord(store, policy, of, memberId, request);
}
