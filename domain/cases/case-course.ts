import type { CaseEvent } from './case-state.ts';

/** Why a member no longer holds a case, or what the member still does with it. */
export type CourseEnd =
  | 'released'
  | 'lease ended'
  | 'submitted'
  | 'accepted'
  | 'changes requested'
  | 'rejected'
  | 'withdrawn'
  | 'holds it'
  | 'under review';

/** A time in which one member held a case, or in which the member's submission was under review. */
export interface Span {
  memberId: string;
  kind: 'held' | 'review';
  from: Date;
  /** Whether the span began before the events that are known. */
  openStart: boolean;
  /** The end of a span, or of the lease that is running; null for a submission under review. */
  until: Date | null;
  end: CourseEnd;
}

/** A change of who holds a case, or of whether it is open to anyone. */
export interface Step {
  id: string;
  at: Date;
  /** The member who acted, or whose lease ended; the author where null. */
  memberId: string | null;
  word: 'claimed it' | 'released it' | typeof LEASE_ENDED | 'withdrew the case';
}

const LEASE_ENDED = 'no longer holds it: the lease ended';

export interface Course {
  spans: Span[];
  steps: Step[];
}

type Recorded = CaseEvent & { event_id: string; recorded_at: Date };

/** A span that may still be running: `lease` is when it ends by itself. */
type Running = Omit<Span, 'end'> & { end: CourseEnd | null; lease: Date | null };

/**
 * Who held a case and when, from its events in their order; the first ones may be missing. `holds` says whether
 * the last claim is still running: a lease that has expired may have no event yet.
 */
export function courseOf(events: readonly Recorded[], holds: boolean): Course {
  const spans: Running[] = [];
  const steps: Step[] = [];
  const running = (): Running | undefined => {
    const last = spans.at(-1);
    return last?.end === null ? last : undefined;
  };
  const begin = (memberId: string, from: Date, leaseEnd: string | null, openStart = false) => {
    const [kind, lease] =
      leaseEnd === null ? (['review', null] as const) : (['held', new Date(leaseEnd)] as const);
    spans.push({ memberId, kind, from, openStart, until: null, end: null, lease });
  };
  const close = (until: Date, end: CourseEnd) => Object.assign(running() ?? {}, { until, end });

  for (const event of events) {
    const { event_id: id, recorded_at: at } = event;
    switch (event.type) {
      case 'CaseClaimed':
        begin(event.data.member_id, at, event.data.lease_expires_at);
        steps.push({ id, at, memberId: event.data.member_id, word: 'claimed it' });
        break;
      case 'CaseLeaseExtended': {
        const { member_id, lease_expires_at } = event.data;
        const held = running();
        if (held) held.lease = new Date(lease_expires_at);
        else begin(member_id, at, lease_expires_at, true);
        break;
      }
      case 'CaseReleased':
        close(at, 'released');
        steps.push({ id, at, memberId: event.data.member_id, word: 'released it' });
        break;
      case 'CaseLeaseEnded': {
        const { member_id: memberId, lease_expires_at } = event.data;
        const ended = new Date(lease_expires_at);
        close(ended, 'lease ended');
        steps.push({ id, at: ended, memberId, word: LEASE_ENDED });
        break;
      }
      case 'CaseSubmitted':
        close(at, 'submitted');
        begin(event.data.member_id, at, null);
        break;
      case 'CaseAccepted':
        close(at, 'accepted');
        break;
      case 'CaseReturned':
        close(at, 'changes requested');
        begin(event.data.member_id, at, event.data.lease_expires_at);
        break;
      case 'CaseRejected':
        close(at, 'rejected');
        break;
      case 'CaseWithdrawn':
        close(at, 'withdrawn');
        steps.push({ id, at, memberId: null, word: 'withdrew the case' });
        break;
    }
  }
  const last = running();
  if (last?.kind === 'review') last.end = 'under review';
  else if (last)
    Object.assign(last, { until: last.lease, end: holds ? 'holds it' : 'lease ended' });
  return { spans: spans.map(({ lease: _, ...span }) => span as Span), steps };
}
