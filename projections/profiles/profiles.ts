import * as events from '../../domain/profiles/events.ts';
import { MAX_COUNTED } from '../../domain/publications/words.ts';
import { START_NEWEST } from '../../platform/keyset-cursor.ts';
import { defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { named, type Sql, sql } from '../../platform/sql.ts';
import { toVector } from '../../platform/word-vector.ts';
import { noteStays, stays } from '../membership/members.ts';
import { defineProjection } from '../projection.ts';
import {
  joinTold,
  NOTIFIED_STATE,
  type NotifiedDecision,
} from '../publications/record-decisions.ts';
import type { RecordRow } from '../publications/records.ts';

const writeProfile = defineInsert(
  'profiles',
  {
    member_id: 'uuid',
    display_name: 'text',
    summary: 'text',
    links: 'text[]',
    capabilities: 'text[]',
    words: 'text::tsvector',
    state: 'text',
    version: 'int',
    published_at: 'timestamptz',
    taken_down_at: 'timestamptz',
    removal_told: 'boolean',
  },
  {
    key: ['member_id'],
    conflict: `DO UPDATE SET display_name = excluded.display_name, summary = excluded.summary,
      links = excluded.links, capabilities = excluded.capabilities, words = excluded.words, state = excluded.state,
      version = excluded.version, published_at = excluded.published_at,
      taken_down_at = excluded.taken_down_at, removal_told = excluded.removal_told`,
  },
);

export const profiles = defineProjection(events, {
  name: 'profiles',
  tables: ['profiles'],
  texts: [
    {
      table: 'profiles',
      columns: ['display_name', 'summary', 'links', 'capabilities', 'words'],
      member: 'member_id',
    },
  ],
  on: {
    ProfilePublished: ({ owner_id, stream_version, personal, recorded_at }) =>
      writeProfile({
        member_id: owner_id,
        display_name: personal?.display_name,
        summary: personal?.summary,
        links: personal?.links,
        capabilities: personal?.capabilities,
        words: toVector([personal?.display_name, personal?.summary]),
        state: 'published',
        version: stream_version,
        published_at: recorded_at,
        taken_down_at: null,
        removal_told: false,
      }),
    // A removed profile may be withdrawn as well; `taken_down_at` stays that of the removal.
    ProfileWithdrawn: ({ owner_id, stream_version, recorded_at }) =>
      sql`UPDATE profiles SET state = 'withdrawn', version = ${stream_version},
        taken_down_at = coalesce(taken_down_at, ${recorded_at}), removal_told = false
        WHERE member_id = ${owner_id}`,
    ProfileRemoved: ({ owner_id, stream_version, recorded_at }) =>
      sql`UPDATE profiles SET state = 'removed', version = ${stream_version},
        taken_down_at = ${recorded_at} WHERE member_id = ${owner_id}`,
    ProfileRemovalTold: ({ owner_id, stream_version }) =>
      sql`UPDATE profiles SET version = ${stream_version}, removal_told = true
        WHERE member_id = ${owner_id}`,
    ProfileRestored: ({ owner_id, stream_version }) =>
      sql`UPDATE profiles SET state = 'published', version = ${stream_version},
        taken_down_at = NULL, removal_told = false WHERE member_id = ${owner_id}`,
  },
});

/** A profile. Its texts are null after erasure. */
export interface ProfileRow {
  member_id: string;
  display_name: string | null;
  summary: string | null;
  links: string[] | null;
  capabilities: string[] | null;
  state: 'published' | 'withdrawn' | 'removed';
  version: number;
  published_at: Date;
  removal_told: boolean;
}

export interface FoundProfile extends ProfileRow {
  /** The removal in force, if its author was not notified of it yet. */
  untold: { of: string; policy: string } | null;
}

const profileByMember = defineRead<FoundProfile>(
  { member_id: 'uuid' },
  (key) => `SELECT profiles.*, untold FROM profiles
    LEFT JOIN LATERAL (SELECT jsonb_build_object('of', event_id, 'policy', policy) AS untold
      FROM record_decisions WHERE state = 'removed' AND NOT removal_told
        AND subject_type = 'profile' AND subject_id = member_id
        AND decision = 'removed' AND undone_at IS NULL ORDER BY decided_at DESC LIMIT 1) removal
      ON true
    WHERE member_id = ${key.member_id}`,
);

/** Finds a member's profile in any state. */
export const findProfile = (memberId: string): Sql<FoundProfile> =>
  profileByMember({ member_id: memberId });

export type OwnProfileRow = Omit<ProfileRow, 'member_id' | 'removal_told'> & NotifiedDecision;

/**
 * A withdrawn profile may have been removed before. A new publication makes earlier removals
 * irrelevant.
 */
const REMOVED = `(state = 'removed' OR state = 'withdrawn' AND decided_at > published_at)`;

/** Reads a profile as its own member may see it. */
export function ownProfile(memberId: string, undoSeconds: number): Sql<OwnProfileRow> {
  return named(
    `SELECT display_name, summary, links, capabilities, ${NOTIFIED_STATE}, decision, version,
      published_at
    FROM profiles ${joinTold('profile', 'member_id', REMOVED, '$2')}
    WHERE member_id = $1`,
    [memberId, undoSeconds],
  );
}

export interface AgentRow extends ProfileRow {
  handle: string | null;
}

export interface AgentCounts {
  artifacts: number;
  cases_opened: number;
  cases_accepted: number;
  notes: number;
}

/** Finds a member with a profile in any state. */
export function findAgent(memberId: string): Sql<AgentRow> {
  return sql`SELECT p.*, m.handle FROM profiles p JOIN members m USING (member_id)
    WHERE p.member_id = ${memberId}`;
}

/**
 * Counts the public records of a member with a published profile in the read models of the capabilities, up to
 * `MAX_COUNTED` of each. `OFFSET 0` keeps profile and notes from a plan that reads an index of all published profiles or
 * approved notes.
 */
export function agentCounts(memberId: string): Sql<AgentCounts> {
  const count = (rows: string) =>
    `(SELECT count(*)::int FROM (SELECT FROM ${rows} LIMIT ${MAX_COUNTED}) counted)`;
  return named(
    `SELECT
    ${count("artifacts WHERE author_id = $1 AND state = 'published'")} AS artifacts,
    ${count('cases WHERE author_id = $1 AND NOT removed')} AS cases_opened,
    ${count(`case_submissions s JOIN cases c USING (case_id)
      WHERE s.member_id = $1 AND s.accepted AND c.state = 'accepted' AND NOT c.removed
        AND NOT c.author_gone AND ${stays('c.author_id')}`)} AS cases_accepted,
    ${count(`(SELECT state, parent_id FROM notes WHERE member_id = $1
        AND state IN ('approved', 'rejected', 'removed') OFFSET 0) n
      WHERE n.state = 'approved' AND (n.parent_id IS NULL
        OR (SELECT r.state FROM notes r WHERE r.note_id = n.parent_id
          AND ${noteStays('r.member_id')}) = 'approved')`)} AS notes
    FROM (SELECT state FROM profiles WHERE member_id = $1 OFFSET 0) profile WHERE state = 'published'`,
    [memberId],
  );
}

export interface ListedAgentRow {
  member_id: string;
  handle: string;
  display_name: string;
  summary: string;
  published_at: Date;
  place: string;
}

const LISTED_AGENT = `p.member_id, m.handle, p.display_name, p.summary, p.published_at,
      to_char(p.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place`;

/** Reads the member of a handle, if its profile is published. */
export function publishedProfileOf(
  { handle, ids }: { handle: string; ids: readonly string[] | undefined },
  { at, id } = START_NEWEST,
): Sql<ListedAgentRow> {
  return named(
    `SELECT ${LISTED_AGENT} FROM members m JOIN profiles p USING (member_id)
    WHERE m.handle = $1 AND p.state = 'published'
      AND ($2::uuid[] IS NULL OR p.member_id IN (SELECT unnest($2::uuid[])))
      AND (p.published_at, p.member_id) < ($3::timestamptz, $4::uuid)`,
    [handle, ids ?? null, at, id],
  );
}

/** Reads those of the members with these ids whose profile is published, newest publication first. */
export function publishedProfilesOf(
  ids: readonly string[],
  limit: number,
  { at, id } = START_NEWEST,
): Sql<ListedAgentRow> {
  return named(
    `SELECT ${LISTED_AGENT} FROM profiles p JOIN members m USING (member_id)
    WHERE p.member_id IN (SELECT unnest($4::uuid[])) AND p.state = 'published'
      AND (p.published_at, p.member_id) < ($1::timestamptz, $2::uuid)
    ORDER BY p.published_at DESC, p.member_id DESC LIMIT $3`,
    [at, id, limit, ids],
  );
}

/** Reads members with a published profile, newest publication first. */
export function publishedProfiles(limit: number, { at, id } = START_NEWEST): Sql<ListedAgentRow> {
  return sql`SELECT p.member_id, m.handle, p.display_name, p.summary, p.published_at,
      to_char(p.published_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS place
    FROM profiles p JOIN members m USING (member_id)
    WHERE p.state = 'published'
      AND (p.published_at, p.member_id) < (${at}::timestamptz, ${id}::uuid)
    ORDER BY p.published_at DESC, p.member_id DESC LIMIT ${limit}`;
}

/** Reads profiles as published records. */
export function profileRecords(ids: readonly string[]): Sql<RecordRow> {
  return sql`SELECT member_id AS subject_id, member_id AS author_id, state,
      state = 'published' AS public, state = 'removed' AS removed, version, display_name AS title,
      concat_ws(E'\n', summary, array_to_string(links, E'\n'),
        nullif(array_to_string(capabilities, ', '), '')) AS text, published_at
    FROM profiles WHERE member_id = ANY(${ids}::uuid[])`;
}
