import { hash } from 'node:crypto';
import { z } from 'zod';
import { LEADS, ROLES_BY_ACTION } from '../../../domain/moderation/roles.ts';
import { type RecordAction, recordActionRefusal } from '../../../domain/publications/removal.ts';
import { RECORD_TYPES, type RecordType } from '../../../domain/publications/words.ts';
import { AnyUuid, Timestamp } from '../../../platform/http/schemas.ts';
import type { Sql } from '../../../platform/sql.ts';
import type { RecordRow } from '../../../projections/publications/records.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { Claim, Item, Report, toDecision, Version } from './item.ts';
import {
  claimBody,
  decisionBody,
  type HolderColumns,
  type ReportJson,
  type ReviewingModerator,
  reportBody,
  type StandingDecision,
} from './item-parts.ts';
import { MemberItem } from './member-item.ts';

/** In the order of the buttons: actions that keep a record public come first. */
const RECORD_ACTIONS = ['keep', 'restore', 'remove'] as const satisfies readonly RecordAction[];

const RECORD_DECISIONS = ['removed', 'restored', 'kept'] as const;
type RecordDecision = (typeof RECORD_DECISIONS)[number];

/** A profile, artifact, case or case note with everything that a moderator needs to decide. */
export const RecordItem = z
  .object({
    id: AnyUuid,
    subject: z.object({ type: z.enum(RECORD_TYPES), id: AnyUuid }),
    state: z.enum(['published', 'withdrawn', 'removed']),
    /** Whether the public can read the record: a note on a removed case, for example, is hidden. */
    public: z.boolean(),
    /** Empty if the title was erased. */
    title: z.string(),
    text: z
      .string()
      .describe(
        "All of its author's words; of an artifact the summary, up to 8000 characters of the " +
          'content, the claim, the terms of reuse and the sources',
      ),
    author: z.object({ kind: z.literal('member'), name: z.string(), member_id: AnyUuid }),
    received_at: Timestamp,
    age_seconds: z.int(),
    /** The record's version plus that of its reports, so that a new report changes it. */
    version: Version,
    claim: Claim.nullable(),
    /** The newest 20 reports. */
    reports: z.array(Report),
    reported_at: Timestamp.nullable(),
    /** The decision in force: the latest removal, restoration or dismissal of reports. */
    decision: toDecision(RECORD_DECISIONS).nullable(),
    allowed_actions: z.array(z.enum(RECORD_ACTIONS)),
  })
  .meta({ id: 'RecordItem' });
export type RecordItem = z.input<typeof RecordItem>;

/** An item of the queue. The JSON has no common tag field; all but notes have `subject`. */
export const QueueItem = z.union([Item, RecordItem, MemberItem]).meta({
  id: 'QueueItem',
  description:
    'A note, another record, or a membership: records and memberships have `subject`, which says what they are.',
});

export interface RecordItemRow extends RecordRow, HolderColumns {
  subject_type: RecordType;
  handle: string | null;
  reports_version: number;
  reported_at: Date | null;
  reports: ReportJson[];
  decision: StandingDecision<RecordDecision> | null;
  now: Date;
}

/**
 * The statement by which moderators read records of one kind: `records` selects them, and its parameters come before
 * the type. Joins their authors, reports, live leases and decisions in force, each looked up by its key: a plain
 * join may read a whole table for one record.
 */
export function withReports(type: RecordType, records: Sql): Sql<RecordItemRow> {
  const ofType = `$${records.values.length + 1}::text`;
  const text = `SELECT r.*, ${ofType} AS subject_type, m.handle, clock_timestamp() AS now,
      coalesce(w.version, 0) AS reports_version, w.reported_at,
      l.lease_id, l.moderator_id AS holder_id, h.name AS holder_name, l.claimed_at, l.expires_at,
      coalesce(reports.list, '[]') AS reports, decision.row AS decision
    FROM (${records.text}) r
    LEFT JOIN LATERAL (SELECT handle FROM members WHERE member_id = r.author_id OFFSET 0) m ON true
    LEFT JOIN LATERAL (SELECT version, reported_at FROM reported_records
      WHERE subject_type = ${ofType} AND subject_id = r.subject_id OFFSET 0) w ON true
    LEFT JOIN LATERAL (SELECT * FROM note_leases
      WHERE note_id = r.subject_id AND subject_type = ${ofType} OFFSET 0) l ON ${isLiveLease('l')}
    LEFT JOIN moderators h ON h.moderator_id = l.moderator_id
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('report_id', report_id, 'member_id', member_id,
        'reason', reason, 'details', details, 'state', state, 'reported_at', reported_at)
        ORDER BY reported_at DESC) AS list
      FROM (SELECT * FROM record_reports
        WHERE subject_type = ${ofType} AND subject_id = r.subject_id
        ORDER BY reported_at DESC LIMIT 20) newest) reports ON true
    LEFT JOIN LATERAL (
      SELECT json_build_object('event_id', d.event_id, 'moderator_id', d.moderator_id,
        'moderator_name', dm.name, 'decision', d.decision, 'policy', d.policy,
        'message', d.message, 'decided_at', d.decided_at, 'told_at', d.told_at) AS row
      FROM record_decisions d LEFT JOIN moderators dm ON dm.moderator_id = d.moderator_id
      WHERE d.subject_type = ${ofType} AND d.subject_id = r.subject_id AND d.undone_at IS NULL
      ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1) decision ON r.state <> 'withdrawn'`;
  return { name: hash('sha1', text), text, values: [...records.values, type] };
}

const time = (at: Date): string => at.toISOString();

/** A record as `reviewer` sees it, with their allowed actions. */
export function recordItemBody(row: RecordItemRow, reviewer: ReviewingModerator): RecordItem {
  return {
    id: row.subject_id,
    subject: { type: row.subject_type, id: row.subject_id },
    state: row.state,
    public: row.public,
    title: row.title ?? '',
    text: row.text ?? '',
    author: { kind: 'member', name: row.handle ?? '', member_id: row.author_id },
    received_at: time(row.published_at),
    age_seconds: Math.max(0, Math.floor((row.now.getTime() - row.published_at.getTime()) / 1000)),
    version: row.version + row.reports_version,
    claim: claimBody(row, reviewer.me),
    reports: row.reports.map(reportBody),
    reported_at: row.reported_at && time(row.reported_at),
    decision: standingBody(row, reviewer),
    allowed_actions: allowedActions(row, reviewer.me),
  };
}

function standingBody(row: RecordItemRow, reviewer: ReviewingModerator): RecordItem['decision'] {
  // A decision on an earlier profile does not apply to a profile that was published again.
  const { decision } = row;
  const removed = decision?.decision === 'removed';
  if (!decision || removed !== (row.state === 'removed')) return null;
  return decisionBody(decision, { undoable: removed }, row.now, reviewer);
}

/** The buttons of the console, by the rule of the decider; a decision checks it again. */
function allowedActions(
  row: RecordItemRow,
  { moderatorId, role }: ReviewingModerator['me'],
): RecordAction[] {
  const heldByOther = row.holder_id !== null && row.holder_id !== moderatorId;
  const record = {
    status: row.state,
    reported: row.reported_at !== null,
    removedBy: row.decision?.moderator_id ?? null,
  };
  return RECORD_ACTIONS.filter(
    (action) =>
      ROLES_BY_ACTION[action].includes(role) &&
      (!heldByOther || (action === 'remove' && LEADS.includes(role))) &&
      recordActionRefusal(record, action, moderatorId) === null,
  );
}
