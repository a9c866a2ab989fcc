import { isReview, reviewSubject } from '../../../domain/moderation/subject.ts';
import type { FollowedEvent } from '../../../platform/eventstore/subscription.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { type LeaseRow, leaseBody, subjectOf } from '../claims/leases.ts';
import { type AppealsAgainst, appealsFor, type Counts } from '../queue/queue-counts.ts';

export type Lease = Omit<LeaseRow, 'claimed_at'>;

/** One server-sent event in its wire format. It carries ids and versions, never a text. */
export type Message = string;

function message(event: string, id: string, data: object): Message {
  return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

export function resync(id: string, reason: 'gap' | 'slow' | 'policies'): Message {
  return message('resync', id, { reason });
}

/** What the counts of every console are made of. */
export interface Figures {
  /** An auditor's counts; a lead's `todo` also includes the escalated notes. */
  counts: Partial<Counts>;
  /** The number of open appeals against each moderator's decisions, by moderator id. */
  appealsAgainst: ReadonlyMap<string, number>;
  memberAppeals: readonly AppealsAgainst[];
  /** The moderators who used a session within the last minutes. */
  atWork: readonly string[];
}

export function counts(
  id: string,
  figures: Figures,
  me: PrincipalOf<'moderator'>,
  held: readonly Lease[],
) {
  const { appealsAgainst, memberAppeals, atWork } = figures;
  const mine = held.filter((lease) => lease.moderator_id === me.moderatorId).length;
  const { todo = 0, escalated = 0, appeals = 0 } = figures.counts;
  const ownAppeals = appealsAgainst.get(me.moderatorId) ?? 0;
  const theirs = me.role === 'lead' ? { todo: todo + escalated } : {};
  const answerable = { appeals: appealsFor(me, { open: appeals, own: ownAppeals }, memberAppeals) };
  const colleagues = atWork.filter((moderatorId) => moderatorId !== me.moderatorId).length;
  return message('counts', id, { ...figures.counts, ...theirs, ...answerable, mine, colleagues });
}

/** The claims: all of them if `complete`, otherwise only what has changed. */
export function claims(id: string, held: Lease[], released: Lease[], complete: boolean): Message {
  return message('claim', id, {
    complete,
    claims: held.map(({ moderator_id, ...lease }) => ({ ...leaseBody(lease), moderator_id })),
    released: released.flatMap((lease) => leaseBody(lease).note_id ?? []),
    released_subjects: released.map(subjectOf),
  });
}

/** The message for an event; undefined if the event does not concern the queue. */
export function queued(event: FollowedEvent, id: string): Message | undefined {
  if (!isReview(event)) return undefined;
  const { type, id: subject } = reviewSubject(event.stream_id);
  if (type === 'policy') return resync(id, 'policies');
  const comment = event.stream_id.startsWith('comment-member-');
  if (type.startsWith('moderator') || comment) return undefined;
  const note = type === 'note' || type === 'screening';
  return message('queue', id, {
    type: event.type,
    event_id: event.event_id,
    subject: { type: note ? 'note' : type, id: subject },
    // A screening and a comment do not change the note's version; a record's version also counts its reports.
    version: /^(note|disabling)-/.test(event.stream_id) ? event.stream_version : null,
    actor: event.actor,
  });
}
