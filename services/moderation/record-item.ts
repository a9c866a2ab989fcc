import { hash } from 'node:crypto';
import { z } from 'zod';
import type { RecordDecisionRow } from '../../projections/record-decisions.ts';
import type { RecordReportRow } from '../../projections/record-reports.ts';
import type { RecordRow } from '../../projections/records.ts';
import type { Sql } from '../eventstore/sql.ts';
import type { PrincipalOf } from '../http/principal.ts';
import { AnyUuid, Timestamp } from '../http/schemas.ts';
import { toldAt } from '../notes/author.ts';
import { RECORD_TYPES, type RecordType } from '../reports/kind.ts';
import { claimBody, type HolderColumns } from './claim-body.ts';
import { Claim, Moderator, Report, Version } from './item.ts';
import { DECIDERS, ROLES_OF } from './roles.ts';

const RECORD_ACTIONS = ['remove', 'restore', 'keep'] as const;
type RecordAction = (typeof RECORD_ACTIONS)[number];

/** A profile, an artifact, a case or a note on a case with all that a decision needs. */
export const RecordItem = z
  .object({
    id: AnyUuid,
    subject: z.object({ type: z.enum(RECORD_TYPES), id: AnyUuid }),
    state: z.enum(['published', 'withdrawn', 'removed']),
    /** Whether anybody can read it: a note on a removed case cannot be read. */
    public: z.boolean(),
    /** Empty where it was erased. */
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
    /** Of the record and its reports together: a new report makes it another. */
    version: Version,
    claim: Claim.nullable(),
    /** The newest twenty. */
    reports: z.array(Report),
    reported_at: Timestamp.nullable(),
    /** The removal or restoration that stands, or that it was kept since. */
    decision: z
      .object({
        event_id: AnyUuid,
        decision: z.enum(['removed', 'restored', 'kept']),
        policy: z.string().nullable(),
        message: z.string().nullable(),
        moderator: Moderator.nullable(),
        decided_at: Timestamp,
        undo_allowed: z.boolean(),
        undo_until: Timestamp.nullable(),
        told_at: Timestamp.nullable(),
      })
      .nullable(),
    allowed_actions: z.array(z.enum(RECORD_ACTIONS)),
  })
  .meta({ id: 'RecordItem' });
export type RecordItem = z.input<typeof RecordItem>;

type Standing = Pick<RecordDecisionRow, 'event_id' | 'moderator_id' | 'policy' | 'message'> & {
  decision: 'removed' | 'restored' | 'kept';
  moderator_name: string | null;
  decided_at: string;
  told_at: string | null;
};

export interface RecordItemRow extends RecordRow, HolderColumns {
  subject_type: RecordType;
  handle: string | null;
  reports_version: number;
  reported_at: Date | null;
  reports: (Pick<RecordReportRow, 'report_id' | 'member_id' | 'reason' | 'details' | 'state'> & {
    reported_at: string;
  })[];
  decision: Standing | null;
  now: Date;
}

/** Records of one kind with what is said of them. */
export function withReports(type: RecordType, records: Sql): Sql<RecordItemRow> {
  const of = `$${records.values.length + 1}::text`;
  const text = `SELECT r.*, ${of} AS subject_type, m.handle, clock_timestamp() AS now,
      coalesce(w.version, 0) AS reports_version, w.reported_at, l.lease_id,
      l.moderator_id AS holder_id, h.name AS holder_name, l.claimed_at, l.expires_at,
      coalesce(reports.list, '[]') AS reports, decision.row AS decision
    FROM (${records.text}) r
    LEFT JOIN members m ON m.member_id = r.author_id
    LEFT JOIN reported_records w ON w.subject_type = ${of} AND w.subject_id = r.subject_id
    LEFT JOIN note_leases l ON l.note_id = r.subject_id AND l.subject_type = ${of}
      AND l.expires_at > clock_timestamp()
    LEFT JOIN moderators h ON h.moderator_id = l.moderator_id
    LEFT JOIN LATERAL (SELECT json_agg(json_build_object('report_id', report_id,
        'member_id', member_id, 'reason', reason, 'details', details, 'state', state,
        'reported_at', reported_at) ORDER BY reported_at DESC) AS list
      FROM (SELECT * FROM record_reports
        WHERE subject_type = ${of} AND subject_id = r.subject_id
        ORDER BY reported_at DESC LIMIT 20) newest) reports ON true
    LEFT JOIN LATERAL (SELECT json_build_object('event_id', d.event_id,
        'moderator_id', d.moderator_id, 'moderator_name', dm.name, 'decision', d.decision,
        'policy', d.policy, 'message', d.message, 'decided_at', d.decided_at,
        'told_at', d.told_at) AS row
      FROM record_decisions d LEFT JOIN moderators dm ON dm.moderator_id = d.moderator_id
      WHERE d.subject_type = ${of} AND d.subject_id = r.subject_id AND d.undone_at IS NULL
      ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1) decision ON r.state <> 'withdrawn'`;
  return { name: hash('sha1', text), text, values: [...records.values, type] };
}

interface Reviewer {
  me: Pick<PrincipalOf<'moderator'>, 'moderatorId' | 'role'>;
  undoSeconds: number;
}

const time = (at: Date | string): string => new Date(at).toISOString();

/** A record as its reviewer sees it, with what this reviewer may do. */
export function recordItemBody(row: RecordItemRow, reviewer: Reviewer): RecordItem {
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
    reports: row.reports.map(({ report_id, reported_at, ...report }) => ({
      id: report_id,
      ...report,
      reported_at: time(reported_at),
    })),
    reported_at: row.reported_at && time(row.reported_at),
    decision: decisionBody(row, reviewer),
    allowed_actions: allowedActions(row, reviewer.me),
  };
}

function decisionBody(row: RecordItemRow, { me, undoSeconds }: Reviewer): RecordItem['decision'] {
  // A profile that was published anew is not what was decided on.
  const { decision } = row;
  if (!decision || (decision.decision === 'removed') !== (row.state === 'removed')) return null;
  const undoable = decision.decision === 'removed';
  const until = toldAt(new Date(decision.decided_at), undoSeconds);
  const own =
    decision.moderator_id === me.moderatorId && DECIDERS.includes(me.role) && row.now < until;
  return {
    event_id: decision.event_id,
    decision: decision.decision,
    policy: decision.policy,
    message: decision.message,
    moderator: decision.moderator_id
      ? { id: decision.moderator_id, name: decision.moderator_name ?? '' }
      : null,
    decided_at: time(decision.decided_at),
    undo_allowed: undoable && (me.role === 'lead' || own),
    undo_until: undoable ? time(until) : null,
    told_at: decision.told_at && time(decision.told_at),
  };
}

/** The same rules as the decision's own, for the buttons. */
function allowedActions(row: RecordItemRow, { moderatorId, role }: Reviewer['me']): RecordAction[] {
  if (row.holder_id !== null && row.holder_id !== moderatorId) return [];
  const fits: Record<RecordAction, boolean> = {
    remove: row.state === 'published',
    restore: row.state === 'removed' && row.decision?.moderator_id !== moderatorId,
    keep: row.state === 'published' && row.reported_at !== null,
  };
  return RECORD_ACTIONS.filter((action) => fits[action] && ROLES_OF[action].includes(role));
}
