import { noteStream, screeningStream } from '../../../domain/guestbook/words.ts';
import { sql } from '../../../platform/sql.ts';
import type { NoteOwner } from '../../../projections/guestbook/notes.ts';
import { MAX_PAST_EVENTS, type PastScope } from '../../../projections/past/past-reads.ts';
import { NEAREST } from '../../../projections/screening/screenings.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { noteStreams, THREAD } from './history.ts';
import type { MembershipDecisions } from './membership-decisions.ts';
import { membershipStreams, recordStreams } from './read-item.ts';

/** The stream of a member's registration, recoveries and closure. */
const memberStream = (memberId: string): string => `member-${memberId}`;

const NOTE_TABLES = [
  'notes',
  'note_decisions',
  'note_reports',
  'note_appeals',
  'note_screenings',
  'members',
];

/** Claims are no events. */
const CLAIMS = ['note_leases'];
/** Nor are folds, and addresses are kept for 48 hours. */
const UNRECORDED = [...CLAIMS, 'note_folds', 'note_addresses', 'report_addresses'];

interface RelatedNote extends NoteOwner {
  /** Whether its screening counts: it is the note itself, or one that is alike. */
  compared: boolean;
}

/**
 * What a note with its thread and its history depended on: the note itself, its thread, the other notes of its
 * author, whose decisions are counted, and the notes that are alike.
 */
export function noteScope(id: string): PastScope {
  return {
    tables: NOTE_TABLES,
    unrecorded: UNRECORDED,
    async streams({ at }, find) {
      const notes = await find(sql<RelatedNote>`WITH
        self AS (SELECT note_id, parent_id, member_id FROM notes WHERE note_id = ${id}),
        related (note_id, compared) AS (
          SELECT note_id, true FROM self
          UNION ALL SELECT parent_id, false FROM self
          UNION ALL SELECT n.note_id, false FROM self CROSS JOIN LATERAL (SELECT note_id FROM notes
            WHERE parent_id = self.parent_id AND submitted_at <= ${at} AND note_id <> self.note_id
            ORDER BY submitted_at DESC LIMIT ${THREAD}) n
          UNION ALL SELECT n.note_id, false FROM self CROSS JOIN LATERAL (SELECT note_id FROM notes
            WHERE parent_id = self.note_id AND submitted_at <= ${at}
            ORDER BY submitted_at DESC LIMIT ${THREAD}) n
          UNION ALL (SELECT n.note_id, false FROM notes n JOIN self ON n.member_id = self.member_id
            WHERE n.submitted_at <= ${at} LIMIT ${MAX_PAST_EVENTS + 1})
          UNION ALL (SELECT near.note_id, true FROM self JOIN note_fingerprints own USING (note_id)
            CROSS JOIN LATERAL (SELECT note_id FROM note_fingerprints
              WHERE hash BETWEEN own.hash AND own.hash AND screened_at <= ${at}
              ORDER BY hash DESC, screened_at DESC, note_id DESC LIMIT ${NEAREST}) near))
        SELECT n.note_id, n.owner_id, n.member_id, bool_or(compared) AS compared
        FROM related CROSS JOIN LATERAL (SELECT note_id, owner_id, member_id FROM notes
          WHERE note_id = related.note_id OFFSET 0) n
        GROUP BY n.note_id, n.owner_id, n.member_id`);
      return notes.flatMap((note) =>
        [
          ...(note.note_id === id ? noteStreams(note).streams : [noteStream(note.note_id)]),
          ...(note.compared ? [screeningStream(note.note_id)] : []),
          ...(note.member_id === null ? [] : [memberStream(note.member_id)]),
        ].map((stream_id) => ({ owner_id: note.owner_id, stream_id })),
      );
    },
    // A note's acts have a stream each that says when they were announced; its reports have none.
    further: (events) =>
      events
        .filter(({ stream_id, type }) => stream_id === noteStream(id) && type !== 'NoteReported')
        .map(({ owner_id, event_id }) => ({ owner_id, stream_id: `telling-${event_id}` })),
  };
}

/** What a record with its history depended on; a note on a case also on the case, which may be another member's. */
export function recordScope(
  kind: PublicationKind,
  kinds: readonly PublicationKind[],
  id: string,
): PastScope {
  return {
    tables: [...kind.tables, 'record_decisions', 'record_reports', 'members'],
    unrecorded: CLAIMS,
    async streams(_moment, find) {
      const [record] = await find(kind.records([id]));
      if (!record) return [];
      const ofRecord = ofMember(record.author_id, recordStreams(kind, id));
      const ofCases = kinds.find(({ type }) => type === 'case');
      if (record.case_id === undefined || !ofCases) return ofRecord;
      const [parent] = await find(ofCases.records([record.case_id]));
      return parent
        ? [...ofRecord, ...ofMember(parent.author_id, [ofCases.stream(parent.subject_id)])]
        : ofRecord;
    },
  };
}

/** What a membership with its history depended on. */
export const membershipScope = (review: MembershipDecisions, id: string): PastScope => ({
  tables: ['members', 'member_decisions', 'member_appeals'],
  unrecorded: CLAIMS,
  streams: async () => ofMember(id, membershipStreams(review, id)),
});

const ofMember = (memberId: string, streams: readonly string[]) =>
  [memberStream(memberId), ...streams].map((stream_id) => ({ owner_id: memberId, stream_id }));
