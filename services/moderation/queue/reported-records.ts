import { hash } from 'node:crypto';
import type pg from 'pg';
import { LEADS } from '../../../domain/moderation/roles.ts';
import { subjectKey } from '../../../domain/moderation/subject.ts';
import type { View } from '../../../domain/moderation/words.ts';
import type { Role } from '../../../domain/permissions.ts';
import type { RecordType } from '../../../domain/publications/words.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { query } from '../../../platform/postgres/query.ts';
import type { Sql } from '../../../platform/sql.ts';
import { stays } from '../../../projections/membership/members.ts';
import type { PublicationKind } from '../../publications/publication-kind.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import type { MemberItem } from './member-item.ts';
import type { MembershipReview } from './membership-review.ts';
import {
  type Filters,
  hasRecords,
  isNewestFirst,
  type QueuePlace,
  UUID,
  type Viewer,
} from './queue.ts';
import { type RecordItem, recordItemBody, withReports } from './record-item.ts';

export interface RecordPlace {
  subject_type: RecordType | 'member';
  subject_id: string;
  /** The record's time in the view's order: UTC, to the microsecond. */
  place: string;
}

/** The records of each view: `subject_type`, `subject_id`, `author_id` and the sort time `at`. */
const SOURCES: Partial<Record<View, string>> = {
  reported: `SELECT subject_type, subject_id, author_id, reported_at AS at FROM reported_records
    WHERE reported_at IS NOT NULL AND ${stays('author_id')}`,
  mine: `SELECT l.subject_type, l.note_id AS subject_id, w.author_id,
      coalesce(w.reported_at, l.claimed_at) AS at
    FROM note_leases l LEFT JOIN reported_records w
      ON w.subject_type = l.subject_type AND w.subject_id = l.note_id
    WHERE l.subject_type <> 'note' AND l.moderator_id = $1 AND ${isLiveLease('l')}`,
  // Each record appears once, with its latest decision in force. The subquery looks up one record's
  // decision at a time; a join would read all decisions.
  decided: `SELECT subject_type, subject_id, author_id, decided_at AS at, policy, moderator_id,
      decision FROM record_decisions d
    WHERE undone_at IS NULL AND event_id = (SELECT last.event_id FROM record_decisions last
      WHERE last.subject_type = d.subject_type AND last.subject_id = d.subject_id
        AND last.undone_at IS NULL ORDER BY last.decided_at DESC, last.event_id DESC LIMIT 1)`,
};

/** The appeals of disabled members, which only leads see. */
const memberAppeals = (role: Role, openAppeals: string): string | undefined =>
  LEADS.includes(role)
    ? `SELECT 'member' AS subject_type, member_id AS subject_id, member_id AS author_id,
        opened_at AS at FROM (${openAppeals}) appeal`
    : undefined;

/**
 * The records and memberships of a view, oldest first (the decided view: newest first). Returns undefined if the
 * view has none, or with a filter that applies to notes only.
 */
export function listReported(
  view: View,
  { moderatorId, role }: Viewer,
  filters: Filters,
  limit: number,
  after: QueuePlace | undefined,
  openAppeals: string,
): Sql<RecordPlace> | undefined {
  const source = view === 'appeals' ? memberAppeals(role, openAppeals) : SOURCES[view];
  if (!source || !hasRecords(view, filters)) return undefined;
  const { author, older_than, only, type, reason, policy, decided_by, state } = filters;
  const values: unknown[] = view === 'mine' ? [moderatorId] : [];
  const value = (given: unknown, type: string) => `$${values.push(given)}::${type}`;
  const conditions = ['true'];
  const newestFirst = isNewestFirst(view, filters);
  if (after) {
    const [at, id] = [value(after.at, 'timestamptz'), value(after.id, 'uuid')];
    conditions.push(
      newestFirst
        ? `w.at <= ${at} AND (w.at < ${at} OR w.subject_id > ${id})`
        : `(w.at, w.subject_id) > (${at}, ${id})`,
    );
  }
  if (author !== undefined)
    conditions.push(
      UUID.test(author)
        ? `w.author_id = ${value(author, 'uuid')}`
        : `w.author_id = (SELECT member_id FROM members WHERE handle = ${value(author, 'text')})`,
    );
  if (only) {
    // By the id alone first, which an index finds.
    conditions.push(`w.subject_id = ANY(${value(only.map(toSubjectId), 'uuid[]')})`);
    conditions.push(
      `w.subject_type || '/' || w.subject_id IN (SELECT unnest(${value(only, 'text[]')}))`,
    );
  }
  if (type !== undefined) conditions.push(`w.subject_type = ${value(type, 'text')}`);
  if (reason !== undefined)
    conditions.push(`(SELECT true FROM record_reports r WHERE r.subject_type = w.subject_type
      AND r.subject_id = w.subject_id AND r.state = 'open'
      AND r.reason = ${value(reason, 'text')} LIMIT 1)`);
  // Only the view of what was decided has these.
  if (decided_by !== undefined) conditions.push(`w.moderator_id = ${value(decided_by, 'uuid')}`);
  if (state !== undefined) conditions.push(`w.decision = ${value(state, 'text')}`);
  if (policy !== undefined) conditions.push(`w.policy = ${value(policy, 'text')}`);
  if (older_than !== undefined)
    conditions.push(
      `w.at < clock_timestamp() - make_interval(secs => ${value(older_than, 'int')})`,
    );
  const text = `SELECT w.subject_type, w.subject_id,
      to_char(w.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM (${source}) w WHERE ${conditions.join(' AND ')}
    ORDER BY w.at ${newestFirst ? 'DESC' : 'ASC'}, w.subject_id LIMIT ${value(limit, 'int')}`;
  return { name: hash('sha1', text), text, values };
}

const toSubjectId = (item: string): string => item.slice(item.indexOf('/') + 1);

interface Deps {
  pool: pg.Pool;
  publicationKinds: readonly PublicationKind[];
  membershipReview: MembershipReview;
  config: { undoWindowSeconds: number };
}

/** The items of these records and memberships, keyed by type and id; one statement reads all of one type. */
export async function recordItems(
  { pool, publicationKinds, membershipReview, config }: Deps,
  me: PrincipalOf<'moderator'>,
  waiting: readonly Omit<RecordPlace, 'place'>[],
): Promise<Map<string, RecordItem | MemberItem>> {
  const kinds = Map.groupBy(waiting, ({ subject_type }) => subject_type);
  const undoSeconds = config.undoWindowSeconds;
  const items = await Promise.all(
    [...kinds].map(async ([type, some]) => {
      const ids = some.map(({ subject_id }) => subject_id);
      if (type === 'member') {
        if (!LEADS.includes(me.role)) return [];
        const rows = await query(pool, membershipReview.items(ids));
        return rows.map((row) => membershipReview.itemBody(row, { me, undoSeconds }));
      }
      const subject = publicationKinds.find((one) => one.type === type);
      if (!subject) throw new Error(`no subject ${type}`);
      const rows = await query(pool, withReports(type, subject.records(ids)));
      return rows.map((row) => recordItemBody(row, { me, undoSeconds }));
    }),
  );
  return new Map(items.flat().map((item) => [subjectKey(item.subject), item]));
}
