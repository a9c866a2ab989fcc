import { hash } from 'node:crypto';
import { type Sql, sql } from '../../../platform/sql.ts';
import type { NoteRow } from '../../../projections/guestbook/notes.ts';
import { HOLDER_COLUMNS, type HolderColumns, joinHolder } from './claim-body.ts';
import { type StandingDecision, standingDecision } from './decision-body.ts';
import type { NoteDecision } from './item.ts';
import { toPlace } from './queue.ts';
import { type ReportJson, reportList } from './report-body.ts';
import type { ScreeningColumns } from './screening.ts';

export interface ItemRow extends NoteRow, HolderColumns, ScreeningColumns {
  handle: string | null;
  approved: number;
  rejected: number;
  parent_state: string | null;
  parent_message: string | null;
  parent_parent_id: string | null;
  parent_experience: string | null;
  reports: ReportJson[];
  guest_reporters: number;
  same_address: number;
  open_appeal: {
    appeal_id: string;
    text: string | null;
    state: 'open' | 'granted' | 'upheld' | 'moot';
    opened_at: string;
    /** The moderator who made the decision; null for the service. */
    against: string | null;
  } | null;
  decision: StandingDecision<NoteDecision> | null;
  now: Date;
  place_tier: string;
  /** False if the note fails the filters and only marks the end of the scan. */
  place_fits: boolean;
  /** True for the last scanned note, if the scan stopped before the end of the view. */
  place_ends: boolean;
  /** The note's time in the view's order: UTC, to the microsecond. */
  place: string;
}

/** The note of each row of the page: a lookup for each, with any estimate of the page. */
const PAGE_NOTES =
  'page CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = page.note_id OFFSET 0) n';

/** Counts each author's decided notes, once for each author of the page, by an index-only scan. */
const AUTHORS = `SELECT o.member_id, count(*) FILTER (WHERE o.state = 'approved')::int AS approved,
    count(*) FILTER (WHERE o.state <> 'approved')::int AS rejected
  FROM (SELECT DISTINCT n.member_id FROM ${PAGE_NOTES}) author
  JOIN notes o ON o.member_id = author.member_id AND o.state IN ('approved', 'rejected', 'removed')
  GROUP BY o.member_id`;

/** The most guests that are counted for an item: the cost of a read must not grow with a flood. */
const MAX_COUNTED_GUESTS = 1000;

/** Counts the notes from each guest's address, once for each address of the page, by an index-only scan. */
const ADDRESSES = `SELECT bucket, notes FROM (
    SELECT DISTINCT bucket FROM page JOIN note_addresses USING (note_id)) address
  CROSS JOIN LATERAL (SELECT count(*)::int AS notes FROM (SELECT FROM note_addresses
    WHERE bucket = address.bucket LIMIT ${MAX_COUNTED_GUESTS} + 1) bounded) counted`;

const DETAILS = `SELECT n.*, m.handle, coalesce(r.approved, 0) AS approved,
    coalesce(r.rejected, 0) AS rejected,
    p.state AS parent_state, p.message AS parent_message, p.parent_id AS parent_parent_id,
    p.experience AS parent_experience,
    ${HOLDER_COLUMNS},
    coalesce(reports.list, '[]') AS reports, appeal.row AS open_appeal, decision.row AS decision,
    (SELECT count(*) FROM (SELECT FROM report_addresses a WHERE a.note_id = n.note_id
      LIMIT ${MAX_COUNTED_GUESTS}) guests)::int AS guest_reporters,
    coalesce((SELECT notes - 1 FROM addresses WHERE bucket = (
      SELECT bucket FROM note_addresses WHERE note_id = n.note_id)), 0) AS same_address,
    s.rules_version, s.band, s.findings, s.words, s.spans, s.screened_at,
    clock_timestamp() AS now, page.tier AS place_tier, page.fits AS place_fits,
    page.ends AS place_ends,
    greatest(0, floor(extract(epoch FROM clock_timestamp() - n.submitted_at)))::int AS age_seconds,
    ${toPlace('page.at')} AS place
  FROM ${PAGE_NOTES}
  LEFT JOIN members m ON m.member_id = n.member_id
  LEFT JOIN notes p ON p.note_id = n.parent_id
  ${joinHolder(`'note'`, 'n.note_id')}
  LEFT JOIN note_screenings s ON s.note_id = n.note_id
  LEFT JOIN authors r ON r.member_id = n.member_id
  LEFT JOIN LATERAL (${reportList('note_reports', 'note_id = n.note_id')}) reports ON true
  LEFT JOIN LATERAL (SELECT json_build_object('appeal_id', appeal_id, 'text', text,
      'state', state, 'opened_at', opened_at, 'against', (
        SELECT moderator_id FROM note_decisions WHERE event_id = a.of)) AS row
    FROM note_appeals a WHERE note_id = n.note_id ORDER BY opened_at DESC LIMIT 1) appeal ON true
  LEFT JOIN LATERAL (${standingDecision(
    'note_decisions',
    `d.note_id = n.note_id AND (d.decision NOT IN ('kept', 'upheld') OR d.told_at IS NULL)
      AND (n.state = 'pending') = (d.decision IN ('deferred', 'escalated'))`,
  )}) decision
    ON n.state <> 'withdrawn'`;

/**
 * Joins the notes of a page with everything that a moderator needs to decide. `page` selects
 * (note_id, tier, at, fits, ends) and runs first, so that only the rows of the page are joined.
 */
export function withDetails(page: Sql, direction: 'ASC' | 'DESC' = 'ASC'): Sql<ItemRow> {
  const text = `WITH page AS MATERIALIZED (${page.text}),
    authors AS MATERIALIZED (${AUTHORS}), addresses AS MATERIALIZED (${ADDRESSES}) ${DETAILS}
    ORDER BY page.tier, page.at ${direction}, page.note_id`;
  return { name: hash('sha1', text), text, values: page.values };
}

export function itemsById(noteIds: readonly string[]): Sql<ItemRow> {
  return withDetails(
    sql`SELECT note_id, tier, submitted_at AS at, true AS fits, false AS ends FROM notes
      WHERE note_id = ANY(${noteIds}::uuid[])`,
  );
}
