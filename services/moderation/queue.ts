import type { NoteRow } from '../../projections/notes.ts';
import { type Sql, sql } from '../eventstore/sql.ts';
import type { Place } from '../http/place.ts';
import type { PrincipalOf } from '../http/principal.ts';
import { unixSeconds } from '../http/schemas.ts';
import { takesReplies } from '../notes/note.ts';
import type { Item } from './contract.ts';
import { DECIDERS } from './roles.ts';
import { type ScreeningColumns, screeningBody } from './screening.ts';

export interface QueueRow extends NoteRow, ScreeningColumns {
  handle: string | null;
  approved: number;
  rejected: number;
  parent_state: string | null;
  parent_message: string | null;
  parent_parent_id: string | null;
  parent_experience: string | null;
  lease_id: string | null;
  holder_id: string | null;
  holder_name: string | null;
  claimed_at: Date | null;
  expires_at: Date | null;
  received: string;
}

const START: Place = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' };

/** Notes with all that a decision needs: pending ones after a place, or those of `ids`. */
export function reviewItems(limit: number, after: Place = START, ids: string[] | null = null): Sql {
  return sql`SELECT n.*, m.handle, r.approved, r.rejected,
      p.state AS parent_state, p.message AS parent_message, p.parent_id AS parent_parent_id,
      p.experience AS parent_experience,
      l.lease_id, l.moderator_id AS holder_id, h.name AS holder_name, l.claimed_at, l.expires_at,
      s.rules_version, s.band, s.findings, s.words, s.screened_at,
      to_char(n.submitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS received,
      greatest(0, floor(extract(epoch FROM clock_timestamp() - n.submitted_at)))::int AS age_seconds
    FROM notes n
    LEFT JOIN members m ON m.member_id = n.member_id
    LEFT JOIN notes p ON p.note_id = n.parent_id
    LEFT JOIN note_leases l ON l.note_id = n.note_id AND l.expires_at > clock_timestamp()
    LEFT JOIN moderators h ON h.moderator_id = l.moderator_id
    LEFT JOIN note_screenings s ON s.note_id = n.note_id
    LEFT JOIN LATERAL (SELECT count(*) FILTER (WHERE o.state = 'approved')::int AS approved,
        count(*) FILTER (WHERE o.state = 'rejected')::int AS rejected
      FROM notes o WHERE o.member_id = n.member_id) r ON true
    WHERE CASE WHEN ${ids}::uuid[] IS NULL THEN n.state = 'pending'
        ELSE n.note_id = ANY(${ids}::uuid[]) END
      AND (n.submitted_at, n.note_id) > (${after.at}::timestamptz, ${after.id}::uuid)
    ORDER BY n.submitted_at, n.note_id LIMIT ${limit}`;
}

export function queueCounts(moderatorId: string): Sql {
  return sql`SELECT (SELECT count(*) FROM notes WHERE state = 'pending')::int AS todo,
    (SELECT count(*) FROM note_leases WHERE moderator_id = ${moderatorId}
      AND expires_at > clock_timestamp())::int AS mine`;
}

/** A note as its reviewer sees it, with what this reviewer may do. */
export function itemBody(row: QueueRow, me: PrincipalOf<'moderator'>): Item {
  const member = row.attribution === 'member';
  const parentPublic = takesReplies(
    {
      state: row.parent_state ?? '',
      experience: row.parent_experience ?? '',
      parent_id: row.parent_parent_id,
      member_id: null,
    },
    row.experience,
  );
  const free = row.holder_id === null || row.holder_id === me.moderatorId;
  const may = DECIDERS.includes(me.role) && row.state === 'pending' && free;
  return {
    id: row.note_id,
    state: row.state,
    experience: row.experience,
    text: row.message ?? '',
    author: {
      kind: row.attribution,
      name: (member ? row.handle : row.name) ?? '',
      member_id: row.member_id,
      approved: row.approved,
      rejected: row.rejected,
    },
    parent: row.parent_id
      ? { id: row.parent_id, text: row.parent_message ?? '', public: parentPublic }
      : null,
    received_at: unixSeconds(row.submitted_at),
    age_seconds: row.age_seconds,
    version: row.version,
    screening: screeningBody(row),
    claim:
      row.lease_id && row.holder_id && row.claimed_at && row.expires_at
        ? {
            lease_id: row.lease_id,
            moderator: { id: row.holder_id, name: row.holder_name ?? '' },
            claimed_at: unixSeconds(row.claimed_at),
            expires_at: unixSeconds(row.expires_at),
            mine: row.holder_id === me.moderatorId,
          }
        : null,
    allowed_actions: may
      ? row.parent_id && !parentPublic
        ? ['reject']
        : ['approve', 'reject']
      : [],
  };
}
