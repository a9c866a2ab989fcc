import { hash } from 'node:crypto';
import { MAX_COUNTED } from '../../../domain/publications/words.ts';
import { type Sql, sql } from '../../../platform/sql.ts';
import type { NoteRow } from '../../../projections/guestbook/notes.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import type { NoteDecision } from './item.ts';
import type { HolderColumns, ReportJson, StandingDecision } from './item-parts.ts';
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

/** The most guests that are counted for an item: the cost of a read must not grow with a flood. */
const MAX_COUNTED_GUESTS = 1000;

/**
 * The statement by which moderators read notes, with everything that they need to decide. `page` selects
 * (note_id, tier, at, fits, ends) and runs first, so that only its rows are joined, each by a lookup. `authors` has the newest
 * decided notes of each author of the page and `addresses` the notes from each address, counted once by index-only scans.
 */
export function withDetails(page: Sql, direction: 'ASC' | 'DESC' = 'ASC'): Sql<ItemRow> {
  const text = `WITH page AS MATERIALIZED (${page.text}),
    authors AS MATERIALIZED (
      SELECT member_id, approved, rejected
      FROM (SELECT DISTINCT n.member_id FROM page
        CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = page.note_id OFFSET 0) n) author
      CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE state = 'approved')::int AS approved,
          count(*) FILTER (WHERE state <> 'approved')::int AS rejected
        FROM (SELECT o.state FROM notes o WHERE o.member_id = author.member_id
          AND o.state IN ('approved', 'rejected', 'removed')
          ORDER BY o.settled_at DESC LIMIT ${MAX_COUNTED}) newest) counted),
    addresses AS MATERIALIZED (
      SELECT bucket, notes
      FROM (SELECT DISTINCT bucket FROM page JOIN note_addresses USING (note_id)) address
      CROSS JOIN LATERAL (SELECT count(*)::int AS notes FROM (SELECT FROM note_addresses
        WHERE bucket = address.bucket LIMIT ${MAX_COUNTED_GUESTS} + 1) bounded) counted)
    SELECT n.*, m.handle, coalesce(r.approved, 0) AS approved, coalesce(r.rejected, 0) AS rejected,
      p.state AS parent_state, p.message AS parent_message, p.parent_id AS parent_parent_id,
      p.experience AS parent_experience,
      lease.*,
      coalesce(reports.list, '[]') AS reports, appeal.row AS open_appeal, decision.row AS decision,
      (SELECT count(*) FROM (SELECT FROM report_addresses a WHERE a.note_id = n.note_id
        LIMIT ${MAX_COUNTED_GUESTS}) guests)::int AS guest_reporters,
      coalesce((SELECT notes - 1 FROM addresses WHERE bucket = (
        SELECT bucket FROM note_addresses WHERE note_id = n.note_id)), 0) AS same_address,
      s.rules_version, s.band, s.findings, s.words, s.spans, s.screened_at,
      clock_timestamp() AS now,
      page.tier AS place_tier, page.fits AS place_fits, page.ends AS place_ends,
      to_char(page.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place,
      greatest(0, floor(extract(epoch FROM clock_timestamp() - n.submitted_at)))::int AS age_seconds
    FROM page CROSS JOIN LATERAL (SELECT * FROM notes WHERE note_id = page.note_id OFFSET 0) n
    LEFT JOIN members m ON m.member_id = n.member_id
    LEFT JOIN notes p ON p.note_id = n.parent_id
    LEFT JOIN LATERAL (
      SELECT l.lease_id, l.moderator_id AS holder_id, h.name AS holder_name, l.claimed_at, l.expires_at
      FROM note_leases l LEFT JOIN moderators h ON h.moderator_id = l.moderator_id
      WHERE l.note_id = n.note_id AND l.subject_type = 'note' AND ${isLiveLease('l')}
      OFFSET 0) lease ON true
    LEFT JOIN note_screenings s ON s.note_id = n.note_id
    LEFT JOIN authors r ON r.member_id = n.member_id
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('report_id', report_id, 'member_id', member_id,
        'reason', reason, 'details', details, 'state', state, 'reported_at', reported_at)
        ORDER BY reported_at DESC) AS list
      FROM (SELECT * FROM note_reports WHERE note_id = n.note_id
        ORDER BY reported_at DESC LIMIT 20) newest) reports ON true
    LEFT JOIN LATERAL (
      SELECT json_build_object('appeal_id', appeal_id, 'text', text, 'state', state,
        'opened_at', opened_at, 'against', (
          SELECT moderator_id FROM note_decisions WHERE event_id = a.of)) AS row
      FROM note_appeals a WHERE note_id = n.note_id ORDER BY opened_at DESC LIMIT 1) appeal ON true
    LEFT JOIN LATERAL (
      SELECT json_build_object('event_id', d.event_id, 'moderator_id', d.moderator_id,
        'moderator_name', dm.name, 'decision', d.decision, 'policy', d.policy,
        'message', d.message, 'decided_at', d.decided_at, 'told_at', d.told_at) AS row
      FROM note_decisions d LEFT JOIN moderators dm ON dm.moderator_id = d.moderator_id
      WHERE d.note_id = n.note_id AND d.undone_at IS NULL
        AND (d.decision NOT IN ('kept', 'upheld') OR d.told_at IS NULL)
        AND (n.state = 'pending') = (d.decision IN ('deferred', 'escalated'))
      ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1) decision ON n.state <> 'withdrawn'
    ORDER BY page.tier, page.at ${direction}, page.note_id`;
  return { name: hash('sha1', text), text, values: page.values };
}

export function itemsById(noteIds: readonly string[]): Sql<ItemRow> {
  return withDetails(
    sql`SELECT note_id, tier, submitted_at AS at, true AS fits, false AS ends FROM notes
      WHERE note_id = ANY(${noteIds}::uuid[])`,
  );
}
