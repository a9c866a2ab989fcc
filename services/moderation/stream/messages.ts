import type { TailEvent } from '../../../platform/eventstore/subscription.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { heldBy, type LeaseRow, leaseBody } from '../claims/leases.ts';
import { isReview, subjectOf } from '../decisions/review-events.ts';
import { appealsFor, type Counts } from '../queue/queue-counts.ts';

export type Lease = Omit<LeaseRow, 'claimed_at'>;

/** One event of the stream, in the format of server-sent events. Ids and versions, never a text. */
export type Message = string;

function message(event: string, id: number, data: object): Message {
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function resync(id: number, reason: 'gap' | 'slow' | 'policies'): Message {
  return message('resync', id, { reason });
}

/** `figures` are an auditor's; what is escalated is for a lead to do, too. */
export function counts(
  id: number,
  figures: Partial<Counts>,
  me: PrincipalOf<'moderator'>,
  held: Lease[],
  ownAppeals: number,
) {
  const mine = held.filter((lease) => lease.moderator_id === me.moderatorId).length;
  const { todo = 0, escalated = 0, appeals = 0 } = figures;
  const theirs = me.role === 'lead' ? { todo: todo + escalated } : {};
  const answerable = { appeals: appealsFor(me, appeals, ownAppeals) };
  return message('counts', id, { ...figures, ...theirs, ...answerable, mine });
}

/** What is claimed: all of it (`complete`), or what has changed. */
export function claims(id: number, held: Lease[], released: Lease[], complete: boolean): Message {
  return message('claim', id, {
    complete,
    claims: held.map(({ moderator_id, ...lease }) => ({ ...leaseBody(lease), moderator_id })),
    released: released.flatMap((lease) => leaseBody(lease).note_id ?? []),
    released_subjects: released.map(heldBy),
  });
}

/** What a console is told of an event; nothing where it is no concern of the queue's. */
export function queued(event: TailEvent, id: number): Message | undefined {
  if (!isReview(event)) return undefined;
  const { type, id: subject } = subjectOf(event.stream_id);
  if (type === 'policy') return resync(id, 'policies');
  if (type.startsWith('moderator')) return undefined;
  const note = type === 'note' || type === 'screening';
  return message('queue', id, {
    type: event.type,
    event_id: event.event_id,
    subject: { type: note ? 'note' : type, id: subject },
    // Screening does not change the version that is decided on; a record's is not its stream's alone.
    version: type === 'note' ? event.stream_version : null,
    actor: event.actor,
  });
}
