import { wrongState } from '../../../domain/conflict.ts';
import { CLAIMERS, LEADS } from '../../../domain/moderation/roles.ts';
import type { Subject } from '../../../domain/moderation/subject.ts';
import { memberOwner } from '../../../domain/owners.ts';
import { lastFact, readsEvents, streamVersion } from '../../../platform/eventstore/append.ts';
import { eraseEvents } from '../../../platform/eventstore/erasure.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { type Accepted, type Command, defineCommand } from '../../../platform/eventstore/handle.ts';
import {
  type DerivedLoad,
  derive,
  loadAfter,
  type MemberRead,
} from '../../../platform/eventstore/load.ts';
import type { Owner } from '../../../platform/eventstore/owner.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { sql } from '../../../platform/sql.ts';
import { noteOwners, ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { findMember } from '../../../projections/membership/members.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { lockNotes, membersConcerned } from '../decisions/decide-rows.ts';
import { commentStream } from '../decisions/history.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';

type Code = 'role_required' | 'not_found' | 'state_conflict';
type Reply<Status, Word> = { status: Status; body: { status: Word; event_id: string } };

/** A subject that exists. */
interface Target {
  /** The author of the subject, who owns the comments. */
  owner: Owner;
  /** The last event of the stream of its comments. */
  last: readonly RecordedEvent[];
  /** The comment to delete, if there is one. */
  comments: readonly RecordedEvent[];
  /** Why the subject takes no new comments; otherwise null. */
  closed: Refusal<'state_conflict'> | null;
}

export function addComment(
  subject: Subject,
  text: string,
  kinds: readonly PublicationKind[],
): Command<Reply<201, 'commented'>, Code, ActiveModerator> {
  return defineCommand({
    ...findSubject(subject, null, kinds),
    decide({ target }, _now, { role }: ActiveModerator) {
      if (!CLAIMERS.includes(role)) return refuse('role_required', { roles: CLAIMERS });
      if (target.closed) return target.closed;
      const event = { type: 'CommentAdded', data: { subject }, personal: { text } };
      return append(subject, target, event, (event_id) => ({
        status: 201 as const,
        body: { status: 'commented' as const, event_id },
      }));
    },
  });
}

/**
 * Deletes a comment for its author or a lead: erases its text, and records who did it. Comments are
 * in the log alone, so the erased event is all that is left.
 */
export function deleteComment(
  subject: Subject,
  commentId: string,
  kinds: readonly PublicationKind[],
): Command<Reply<200, 'deleted'>, Code, ActiveModerator> {
  return defineCommand({
    ...findSubject(subject, commentId, kinds),
    decide({ target }, _now, { moderatorId, role }: ActiveModerator) {
      if (!CLAIMERS.includes(role)) return refuse('role_required', { roles: CLAIMERS });
      const [comment] = target.comments;
      if (!comment) return refuse('not_found');
      const isAuthor = comment.actor.id === moderatorId;
      if (!isAuthor && !LEADS.includes(role)) return refuse('role_required', { roles: LEADS });
      if (comment.personal === null)
        return wrongState({ status: 'erased', version: streamVersion(target.last) });
      const event = { type: 'CommentDeleted', data: { subject, of: commentId }, personal: null };
      const deleted = append(subject, target, event, (event_id) => ({
        status: 200 as const,
        body: { status: 'deleted' as const, event_id },
      }));
      return { ...deleted, rows: eraseEvents(comment.owner_id, [comment]) };
    },
  });
}

function append<Reply>(
  subject: Subject,
  { owner, last }: Target,
  event: NewEvent,
  reply: (eventId: string) => Reply,
): Accepted<Reply> {
  return {
    appends: [
      { owner, stream: commentStream(subject), version: streamVersion(last), events: [event] },
    ],
    reply: ([recorded]) => reply(recorded?.event_id ?? ''),
  };
}

/** The members to lock for a comment, and its subject, loaded under the locks. */
interface Found {
  lock?: readonly string[];
  find?: MemberRead;
  load: { target: DerivedLoad<Target | Refusal<'not_found'>> };
}

/**
 * Comments are owned by the author of what they are about, so that closing the account erases them.
 * The lock of the note or of the member keeps an erasure from overlooking a new comment.
 */
function findSubject(
  subject: Subject,
  commentId: string | null,
  kinds: readonly PublicationKind[],
): Found {
  const read: ReadComment = (owner) => readComment(owner, subject, commentId);
  if (subject.type === 'note') return findNote(subject.id, read);
  if (subject.type === 'member') return findAuthor(subject.id, read);
  const kind = kinds.find(({ type }) => type === subject.type);
  if (!kind) throw new Error(`no kind of record: ${subject.type}`);
  return findRecord(subject.id, kind, read);
}

/** Reads the end of the stream of comments, and one of them; not the others, which may be many. */
const readComment = (owner: Owner | undefined, subject: Subject, commentId: string | null) => ({
  last: owner ? lastFact(owner, commentStream(subject)) : null,
  comments:
    owner && commentId !== null ? findComment(owner, commentStream(subject), commentId) : null,
});

type ReadComment = (owner: Owner | undefined) => ReturnType<typeof readComment>;

/** By the index events_comments. */
const findComment = ({ id: owner }: Owner, stream: string, commentId: string) =>
  readsEvents(sql<RecordedEvent>`SELECT * FROM (SELECT * FROM events WHERE owner_id = ${owner}
      AND event_id = ${commentId} AND type = 'CommentAdded' OFFSET 0) comment
    WHERE stream_id = ${stream}`);

function findNote(id: string, read: ReadComment): Found {
  const reads = {
    notes: lockNotes([id]),
    found: loadAfter(noteOwners([id]), ([note]) => read(note && ownerOfNote(note))),
  };
  const target = derive(reads, ({ notes: [note], found }) => {
    if (!note) return refuse('not_found');
    const isClosed = note.message === null || note.author_gone;
    const closed = isClosed ? wrongState({ status: note.state, version: note.version }) : null;
    return { owner: ownerOfNote(note), ...found, closed };
  });
  return { find: membersConcerned([id]), load: { target } };
}

function findRecord(id: string, kind: PublicationKind, read: ReadComment): Found {
  const records = kind.records([id]);
  const authors = recordAuthors(records);
  const reads = {
    records,
    found: loadAfter(authors, ([author]) => read(author && memberOwner(author.member_id))),
  };
  const target = derive(reads, ({ records: [row], found }) => {
    if (!row) return refuse('not_found');
    const { state: status, version } = row;
    const closed = status === 'withdrawn' ? wrongState({ status, version }) : null;
    return { owner: memberOwner(row.author_id), ...found, closed };
  });
  return { find: authors, load: { target } };
}

function findAuthor(id: string, read: ReadComment): Found {
  const owner = memberOwner(id);
  const reads = { members: findMember(id), found: read(owner) };
  const target = derive(reads, ({ members: [member], found }) =>
    member?.state === 'active' ? { owner, ...found, closed: null } : refuse('not_found'),
  );
  return { lock: [id], load: { target } };
}
