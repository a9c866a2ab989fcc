import * as events from '../../domain/guestbook/events.ts';
import { defineBatch, defineInsert } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { defineProjection, type EventOf } from '../projection.ts';

type DecisionEvent = EventOf<
  typeof events,
  | 'NoteApproved'
  | 'NoteRejected'
  | 'NoteRemoved'
  | 'ReportsDismissed'
  | 'AppealGranted'
  | 'AppealUpheld'
  | 'NoteDeferred'
  | 'NoteEscalated'
>;

const insertDecision = defineInsert(
  'note_decisions',
  {
    event_id: 'uuid',
    note_id: 'uuid',
    moderator_id: 'uuid',
    decision: 'text',
    decided_at: 'timestamptz',
    version: 'int',
    policy: 'text',
    message: 'text',
    batch_id: 'uuid',
    claimed_at: 'timestamptz',
    told_at: 'timestamptz',
  },
  { key: ['event_id'] },
);

const markTold = defineBatch(
  'note_decisions',
  { event_id: 'uuid', at: 'timestamptz' },
  (given) => `UPDATE note_decisions d SET told_at = given.at
    FROM ${given} WHERE d.event_id = given.event_id`,
  ['event_id'],
);

/** The undo of a batch has the id of the batch itself; that of a rewind has its own. */
const markUndone = defineBatch(
  'note_decisions',
  { event_id: 'uuid', at: 'timestamptz', batch_id: 'uuid' },
  (given) => `UPDATE note_decisions d SET undone_at = given.at,
      rewound_in = CASE WHEN given.batch_id IS DISTINCT FROM d.batch_id THEN given.batch_id END
    FROM ${given} WHERE d.event_id = given.event_id`,
  ['event_id'],
);

function insert(event: DecisionEvent, decision: DecisionRow['decision']): Sql {
  const { event_id, stream_version, data, personal, actor, recorded_at } = event;
  return insertDecision({
    event_id,
    note_id: data.note_id,
    moderator_id: actor.type === 'moderator' ? actor.id : null,
    decision,
    decided_at: recorded_at,
    version: stream_version,
    policy: 'policy' in data ? data.policy : null,
    message: personal && ('why' in personal ? personal.why : personal.message),
    batch_id: data.batch_id,
    claimed_at: data.claimed_at,
    told_at: announcesItself(event) ? recorded_at : null,
  });
}

/** Answers to reports and appeals of earlier releases, and the grant that comes with an undo. */
const announcesItself = ({ type, data }: DecisionEvent): boolean =>
  ['ReportsDismissed', 'AppealGranted', 'AppealUpheld'].includes(type) && !('undoable' in data);

/**
 * Records a restoration as a decision, unless it accompanies the undo of a removal, which an
 * earlier event of the same command records.
 */
function restored(event: EventOf<typeof events, 'NoteRestored'>): Sql {
  const { event_id, stream_version, data, actor, recorded_at } = event;
  return sql`INSERT INTO note_decisions (event_id, note_id, moderator_id, decision, decided_at,
      version, batch_id, claimed_at)
    SELECT ${event_id}::uuid, ${data.note_id}::uuid, ${actor.id ?? null}::uuid, 'restored',
      ${recorded_at}::timestamptz, ${stream_version}::int, ${data.batch_id ?? null}::uuid,
      ${data.claimed_at ?? null}::timestamptz
    WHERE NOT EXISTS (SELECT FROM note_decisions WHERE note_id = ${data.note_id}::uuid
      AND decision = 'removed' AND undone_at = ${recorded_at}::timestamptz)`;
}

/** Decisions on notes by event id: an undo finds its note here, and the author reads them. */
export const decisions = defineProjection(events, {
  name: 'decisions',
  tables: ['note_decisions'],
  texts: [{ table: 'note_decisions', columns: ['message'] }],
  on: {
    NoteApproved: (event) => insert(event, 'approved'),
    NoteRejected: (event) => insert(event, 'rejected'),
    NoteRemoved: (event) => insert(event, 'removed'),
    NoteRestored: restored,
    ReportsDismissed: (event) => insert(event, 'kept'),
    AppealGranted: (event) => insert(event, 'granted'),
    AppealUpheld: (event) => insert(event, 'upheld'),
    NoteDeferred: (event) => insert(event, 'deferred'),
    NoteEscalated: (event) => insert(event, 'escalated'),
    DecisionUndone: ({ data, recorded_at }) =>
      markUndone({ event_id: data.of, at: recorded_at, batch_id: data.batch_id ?? null }),
    DecisionTold: ({ data, recorded_at }) =>
      data.outcome === 'overturned' ? [] : markTold({ event_id: data.of, at: recorded_at }),
    NoteErased: ({ data }) =>
      sql`UPDATE note_decisions SET message = NULL WHERE note_id = ${data.note_id}`,
  },
});

export interface DecisionRow {
  event_id: string;
  note_id: string;
  /** Null if the service decided. */
  moderator_id: string | null;
  decision:
    | 'approved'
    | 'rejected'
    | 'removed'
    | 'restored'
    | 'kept'
    | 'granted'
    | 'upheld'
    | 'deferred'
    | 'escalated';
  decided_at: Date;
  undone_at: Date | null;
  /** The version of the note after the decision. */
  version: number;
  policy: string | null;
  /** The message of the moderator to the author; for an escalation, to the lead. */
  message: string | null;
  batch_id: string | null;
  /** The rewind that undid the decision. */
  rewound_in: string | null;
  /** When the affected members were notified. */
  told_at: Date | null;
  /** When the deciding moderator claimed the note. */
  claimed_at: Date | null;
}

export function findDecision(eventId: string): Sql<DecisionRow> {
  return sql`SELECT * FROM note_decisions WHERE event_id = ${eventId}`;
}

/** Reads the decisions that were made together as one batch. */
export function decisionsOfBatch(batchId: string): Sql<DecisionRow> {
  return sql`SELECT * FROM note_decisions WHERE batch_id = ${batchId} ORDER BY event_id`;
}

/** Reads decisions that a rewind undid, of whole notes: at most `limit`, after a note. */
export function decisionsRewound(
  batchId: string,
  after: string | null,
  limit: number,
): Sql<DecisionRow> {
  return sql`SELECT * FROM note_decisions WHERE rewound_in = ${batchId}
    AND (${after}::uuid IS NULL OR note_id > ${after}::uuid)
    ORDER BY note_id, version LIMIT ${limit}`;
}

export type StandingRow = DecisionRow & {
  decision: Exclude<DecisionRow['decision'], 'kept' | 'upheld' | 'deferred' | 'escalated'>;
};

/** SQL that finds, as `d`, the decision in force on a note, by which it is rejected, removed or public. */
export const standingOn = (noteId: string): string =>
  `note_decisions d WHERE d.note_id = ${noteId} AND d.undone_at IS NULL
      AND d.decision NOT IN ('kept', 'upheld', 'deferred', 'escalated')
    ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1`;

/** Finds the decision in force on a note. */
export function standingDecision(noteId: string): Sql<StandingRow> {
  return named(`SELECT d.* FROM ${standingOn('$1')}`, [noteId]);
}

export interface DecidedNoteRow {
  message: string;
  rejected: boolean;
}

/** Reads the texts that moderators decided on, with the outcome, newest decision first. */
export function standingDecisions(limit: number): Sql<DecidedNoteRow> {
  return sql`SELECT n.message, n.state <> 'approved' AS rejected
    FROM note_decisions d JOIN notes n ON n.note_id = d.note_id
    WHERE d.undone_at IS NULL AND d.decision IN ('approved', 'rejected')
      AND d.moderator_id IS NOT NULL
      AND n.state IN ('approved', 'rejected', 'removed') AND n.message IS NOT NULL
    ORDER BY d.decided_at DESC LIMIT ${limit}`;
}
