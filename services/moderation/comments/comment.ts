import { CLAIMERS, LEADS } from '../../../domain/moderation/roles.ts';
import type { CommentSubject } from '../../../domain/moderation/subject.ts';
import { lastFact, streamVersion } from '../../../platform/eventstore/append.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import {
  type Command,
  defineCommand,
  type Writes,
} from '../../../platform/eventstore/event-store.ts';
import { loadAfter } from '../../../platform/eventstore/load.ts';
import { memberOwner, type Owner } from '../../../platform/eventstore/owner.ts';
import type { PrincipalOf, Role } from '../../../platform/http/principal.ts';
import { type Refusal, refuse, wrongState } from '../../../platform/refusal.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import { noteOwners, ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { findMember } from '../../../projections/membership/members.ts';
import { recordAuthors } from '../../../projections/publications/records.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { lockNotes, membersConcerned } from '../decisions/decide-rows.ts';
import { commentStream } from '../decisions/history.ts';
import { shareLockModerator } from '../staff/lock-moderator.ts';

type Moderator = PrincipalOf<'moderator'>;
type Code = 'moderator_required' | 'role_required' | 'not_found' | 'state_conflict';
type Answer<Status> = { status: Status; event_id: string };
type Decide<Status> = (target: Target) => Writes<Answer<Status>> | Refusal<Code>;

/** A subject that exists. */
interface Target {
  /** The author of the subject, who owns the comments. */
  owner: Owner;
  /** The caller's present role. */
  role: Role;
  /** The last event of the stream of its comments. */
  last: readonly RecordedEvent[];
  /** The comment to delete, if there is one. */
  comments: readonly RecordedEvent[];
  /** Why the subject takes no new comments; otherwise null. */
  closed: Refusal<Code> | null;
}

export function addComment(
  me: Moderator,
  subject: CommentSubject,
  text: string,
  kinds: readonly PublicationKind[],
): Command<Answer<'commented'>, Code> {
  return onSubject(me, subject, null, kinds, ({ closed, ...target }) => {
    if (closed) return closed;
    const event = { type: 'CommentAdded', data: { subject }, personal: { text } };
    return append(me, subject, target, 'commented', event);
  });
}

/**
 * Deletes a comment for its author or a lead: erases its text, and records who did it. Comments are
 * in the log alone, so the erased event is all that is left.
 */
export function deleteComment(
  me: Moderator,
  subject: CommentSubject,
  commentId: string,
  kinds: readonly PublicationKind[],
): Command<Answer<'deleted'>, Code> {
  return onSubject(me, subject, commentId, kinds, (target) => {
    const [comment] = target.comments;
    if (!comment) return refuse('not_found');
    const isAuthor = comment.actor.id === me.moderatorId;
    if (!isAuthor && !LEADS.includes(target.role)) return refuse('role_required', { roles: LEADS });
    if (comment.personal === null)
      return wrongState({ status: 'erased', version: streamVersion(target.last) });
    const event = { type: 'CommentDeleted', data: { subject, of: commentId }, personal: null };
    return {
      ...append(me, subject, target, 'deleted', event),
      rows: [eraseComment(comment)],
    };
  });
}

function eraseComment({ owner_id, stream_id, stream_version }: RecordedEvent): Sql {
  return sql`UPDATE events SET personal = NULL WHERE owner_id = ${owner_id}
    AND stream_id = ${stream_id} AND stream_version = ${stream_version}`;
}

function append<Status extends string>(
  me: Moderator,
  subject: CommentSubject,
  { owner, last }: Pick<Target, 'owner' | 'last'>,
  status: Status,
  event: NewEvent,
): Writes<Answer<Status>> {
  return {
    answer: ([recorded]) => ({ status, event_id: recorded?.event_id ?? '' }),
    appends: [
      {
        owner,
        stream: commentStream(subject),
        version: streamVersion(last),
        actor: { type: 'moderator', id: me.moderatorId },
        events: [event],
      },
    ],
  };
}

/**
 * Comments are owned by the author of what they are about, so that closing the account erases them.
 * The lock of the note or of the member keeps an erasure from overlooking a new comment.
 */
function onSubject<Status>(
  me: Moderator,
  subject: CommentSubject,
  commentId: string | null,
  kinds: readonly PublicationKind[],
  decide: Decide<Status>,
): Command<Answer<Status>, Code> {
  const read: ReadComment = (owner) => readComment(owner, subject, commentId);
  if (subject.type === 'note') return onNote(me, subject, read, decide);
  if (subject.type === 'member') return onMember(me, subject, read, decide);
  const kind = kinds.find(({ type }) => type === subject.type);
  if (!kind) throw new Error(`no kind of record: ${subject.type}`);
  return onRecord(me, subject, kind, read, decide);
}

/** Reads the end of the stream of comments, and one of them; not the others, which may be many. */
const readComment = (
  owner: Owner | undefined,
  subject: CommentSubject,
  commentId: string | null,
) => ({
  last: owner ? lastFact(owner, commentStream(subject)) : null,
  comments:
    owner && commentId !== null ? findComment(owner, commentStream(subject), commentId) : null,
});

type ReadComment = (owner: Owner | undefined) => ReturnType<typeof readComment>;

/** By the index events_comments. */
const findComment = ({ id: owner }: Owner, stream: string, commentId: string) =>
  sql<RecordedEvent>`SELECT * FROM (SELECT * FROM events WHERE owner_id = ${owner}
      AND event_id = ${commentId} AND type = 'CommentAdded' OFFSET 0) comment
    WHERE stream_id = ${stream}`;

function onNote<Status>(
  me: Moderator,
  subject: CommentSubject,
  read: ReadComment,
  decide: Decide<Status>,
): Command<Answer<Status>, Code> {
  const ids = [subject.id];
  return defineCommand({
    find: membersConcerned(ids),
    load: {
      moderators: shareLockModerator(me),
      notes: lockNotes(ids),
      found: loadAfter(noteOwners(ids), ([note]) => read(note && ownerOfNote(note))),
    },
    decide({ rows: { moderators, notes, found } }) {
      const role = activeRole(moderators);
      if (typeof role !== 'string') return role;
      const [note] = notes;
      if (!note) return refuse('not_found');
      const { state: status, version } = note;
      const isClosed = note.message === null || note.author_gone;
      const closed = isClosed ? wrongState({ status, version }) : null;
      return decide({ owner: ownerOfNote(note), role, ...found, closed });
    },
  });
}

function onRecord<Status>(
  me: Moderator,
  subject: CommentSubject,
  kind: PublicationKind,
  read: ReadComment,
  decide: Decide<Status>,
): Command<Answer<Status>, Code> {
  const records = kind.records([subject.id]);
  return defineCommand({
    find: recordAuthors(records),
    load: {
      moderators: shareLockModerator(me),
      records,
      found: loadAfter(recordAuthors(records), ([author]) =>
        read(author && memberOwner(author.member_id)),
      ),
    },
    decide({
      rows: {
        moderators,
        records: [row],
        found,
      },
    }) {
      const role = activeRole(moderators);
      if (typeof role !== 'string') return role;
      if (!row) return refuse('not_found');
      const { state: status, version } = row;
      const closed = status === 'withdrawn' ? wrongState({ status, version }) : null;
      return decide({ owner: memberOwner(row.author_id), role, ...found, closed });
    },
  });
}

function onMember<Status>(
  me: Moderator,
  subject: CommentSubject,
  read: ReadComment,
  decide: Decide<Status>,
): Command<Answer<Status>, Code> {
  const { id } = subject;
  return defineCommand({
    lock: [id],
    load: {
      moderators: shareLockModerator(me),
      members: findMember(id),
      found: read(memberOwner(id)),
    },
    decide({
      rows: {
        moderators,
        members: [member],
        found,
      },
    }) {
      const role = activeRole(moderators);
      if (typeof role !== 'string') return role;
      if (member?.state !== 'active') return refuse('not_found');
      return decide({ owner: memberOwner(id), role, ...found, closed: null });
    },
  });
}

function activeRole([live]: readonly { role: Role }[]): Role | Refusal<Code> {
  if (!live) return refuse('moderator_required');
  return CLAIMERS.includes(live.role) ? live.role : refuse('role_required', { roles: CLAIMERS });
}
