import * as events from '../../domain/guestbook/events.ts';
import { START_OLDEST } from '../../platform/keyset-cursor.ts';
import { defineInsert } from '../../platform/postgres/batch-statements.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { defineProjection, type EventOf } from '../projection.ts';

type AppealDecided =
  | EventOf<typeof events, 'AppealGranted'>
  | EventOf<typeof events, 'AppealUpheld'>;

function decide({ data, personal, actor, recorded_at }: AppealDecided, state: string): Sql {
  return sql`UPDATE note_appeals SET state = ${state}, decided_at = ${recorded_at},
    decided_by = ${actor.id ?? null}, message = ${personal?.message ?? null}
    WHERE appeal_id = ${data.appeal_id}`;
}

/** An open appeal becomes moot when the decision that it challenges no longer applies. */
function moot(noteId: string): Sql {
  return sql`UPDATE note_appeals SET state = 'moot' WHERE note_id = ${noteId} AND state = 'open'`;
}

/** An undone answer opens the appeal again; the undo of anything else but a dismissal makes it moot. */
function undone({ note_id, decision, appeal }: EventOf<typeof events, 'DecisionUndone'>['data']) {
  if (decision === 'kept') return [];
  return appeal
    ? sql`UPDATE note_appeals SET state = 'open', decided_at = NULL, decided_by = NULL, message = NULL
        WHERE appeal_id = ${appeal.appeal_id}`
    : moot(note_id);
}

const insertAppeal = defineInsert('note_appeals', {
  appeal_id: 'uuid',
  note_id: 'uuid',
  member_id: 'uuid',
  of: 'uuid',
  text: 'text',
  state: 'text',
  opened_at: 'timestamptz',
});

/** Appeals of authors against decisions on their notes, and the outcomes. */
export const noteAppeals = defineProjection(events, {
  name: 'note-appeals',
  tables: ['note_appeals'],
  texts: [
    { table: 'note_appeals', columns: ['text'], member: 'member_id' },
    { table: 'note_appeals', columns: ['message'] },
  ],
  on: {
    AppealOpened: ({ data, personal, recorded_at }) =>
      insertAppeal({
        appeal_id: data.appeal_id,
        note_id: data.note_id,
        member_id: data.member_id,
        of: data.of,
        text: personal?.text,
        state: 'open',
        opened_at: recorded_at,
      }),
    AppealGranted: (event) => decide(event, 'granted'),
    AppealUpheld: (event) => decide(event, 'upheld'),
    DecisionUndone: ({ data }) => undone(data),
    NoteRestored: ({ data }) => moot(data.note_id),
    NoteErased: ({ data }) => [
      moot(data.note_id),
      sql`UPDATE note_appeals SET text = NULL, message = NULL WHERE note_id = ${data.note_id}`,
    ],
  },
});

export interface AppealOfMember {
  appeal_id: string;
  note_id: string;
  /** The decision that the appeal challenges. */
  of: string;
  text: string | null;
  state: 'open' | 'granted' | 'upheld' | 'moot';
  opened_at: Date;
  decided_at: Date | null;
  /** The message of the moderator who decided the appeal. */
  message: string | null;
  /** `opened_at` to the microsecond. */
  at: string;
}

/**
 * Reads a member's appeals after `last`, oldest first, as the member may know them: within the undo
 * window of its answer an appeal reads as open.
 */
export function appealsOfMember(
  memberId: string,
  last: Pick<AppealOfMember, 'at' | 'appeal_id'> | undefined,
  limit: number,
  undoSeconds: number,
): Sql<AppealOfMember> {
  return sql`SELECT appeal_id, note_id, of, text, opened_at, opened_at::text AS at,
      CASE WHEN untold THEN 'open' ELSE state END AS state,
      CASE WHEN NOT untold THEN decided_at END AS decided_at,
      CASE WHEN NOT untold THEN message END AS message
    FROM note_appeals CROSS JOIN LATERAL (SELECT coalesce(
      decided_at + make_interval(secs => ${undoSeconds}) > now(), false) AS untold) window_open
    WHERE member_id = ${memberId} AND (opened_at, appeal_id) >
      (${last?.at ?? START_OLDEST.at}::timestamptz, ${last?.appeal_id ?? START_OLDEST.id}::uuid)
    ORDER BY opened_at, appeal_id LIMIT ${limit}`;
}
