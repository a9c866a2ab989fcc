import { readStream, streamVersion } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import {
  type Command,
  defineCommand,
  type Writes,
} from '../../../platform/eventstore/event-store.ts';
import { loadAfter } from '../../../platform/eventstore/load.ts';
import type { PrincipalOf, Role } from '../../../platform/http/principal.ts';
import { type Refusal, refuse, wrongState } from '../../../platform/refusal.ts';
import { noteOwners } from '../../../projections/guestbook/notes.ts';
import { findMember } from '../../../projections/membership/members.ts';
import { loadRecordEvents, recordAuthors } from '../../../projections/publications/records.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { lockNotes, membersConcerned } from '../decisions/decide-rows.ts';
import { commentStream } from '../decisions/history.ts';
import type { CommentSubject } from '../queue/subject.ts';
import { shareLockModerator } from '../staff/lock-moderator.ts';
import { CLAIMERS } from '../staff/roles.ts';

type Moderator = PrincipalOf<'moderator'>;
type Answer = { status: 'commented'; event_id: string };
type Code = 'moderator_required' | 'role_required' | 'not_found' | 'state_conflict';

/**
 * Comments are owned by the author of what they are about, so that closing the account erases them.
 * The lock of the note or of the member keeps an erasure from overlooking a new comment.
 */
export function commentCommand(
  me: Moderator,
  subject: CommentSubject,
  text: string,
  kinds: readonly PublicationKind[],
): Command<Answer, Code> {
  if (subject.type === 'note') return onNote(me, subject, text);
  if (subject.type === 'member') return onMember(me, subject, text);
  const kind = kinds.find(({ type }) => type === subject.type);
  if (!kind) throw new Error(`no kind of record: ${subject.type}`);
  return onRecord(me, subject, text, kind);
}

function onNote(me: Moderator, subject: CommentSubject, text: string): Command<Answer, Code> {
  const ids = [subject.id];
  return defineCommand({
    find: membersConcerned(ids),
    load: {
      moderators: shareLockModerator(me),
      notes: lockNotes(ids),
      events: loadAfter(noteOwners(ids), ([note]) =>
        note ? readStream(note.owner_id, commentStream(subject)) : null,
      ),
    },
    decide({ rows: { moderators, notes, events } }) {
      const refused = refuseUnlessActive(moderators);
      if (refused) return refused;
      const [note] = notes;
      if (!note) return refuse('not_found');
      if (note.message === null || note.author_gone)
        return wrongState({ status: note.state, version: note.version });
      return comment(me, note.owner_id, subject, text, events);
    },
  });
}

function onRecord(
  me: Moderator,
  subject: CommentSubject,
  text: string,
  kind: PublicationKind,
): Command<Answer, Code> {
  const records = kind.records([subject.id]);
  return defineCommand({
    find: recordAuthors(records),
    load: {
      moderators: shareLockModerator(me),
      records,
      events: loadRecordEvents(records, [commentStream(subject)]),
    },
    decide({
      rows: {
        moderators,
        records: [row],
        events,
      },
    }) {
      const refused = refuseUnlessActive(moderators);
      if (refused) return refused;
      if (!row) return refuse('not_found');
      if (row.state === 'withdrawn') return wrongState({ status: row.state, version: row.version });
      return comment(me, row.author_id, subject, text, events);
    },
  });
}

function onMember(me: Moderator, subject: CommentSubject, text: string): Command<Answer, Code> {
  const { id } = subject;
  return defineCommand({
    lock: [id],
    load: {
      moderators: shareLockModerator(me),
      members: findMember(id),
      events: readStream(id, commentStream(subject)),
    },
    decide({
      rows: {
        moderators,
        members: [member],
        events,
      },
    }) {
      const refused = refuseUnlessActive(moderators);
      if (refused) return refused;
      if (member?.state !== 'active') return refuse('not_found');
      return comment(me, id, subject, text, events);
    },
  });
}

function refuseUnlessActive([live]: readonly { role: Role }[]): Refusal<Code> | null {
  if (!live) return refuse('moderator_required');
  return CLAIMERS.includes(live.role) ? null : refuse('role_required', { roles: CLAIMERS });
}

function comment(
  me: Moderator,
  owner: string,
  subject: CommentSubject,
  text: string,
  earlier: readonly RecordedEvent[],
): Writes<Answer> {
  return {
    answer: ([event]) => ({ status: 'commented', event_id: event?.event_id ?? '' }),
    appends: [
      {
        owner,
        stream: commentStream(subject),
        version: streamVersion(earlier),
        actor: { type: 'moderator', id: me.moderatorId },
        events: [{ type: 'CommentAdded', data: { subject }, personal: { text } }],
      },
    ],
  };
}
