import * as disabling from '../../domain/disabling/events.ts';
import * as membership from '../../domain/membership/events.ts';
import { fault } from '../../platform/fault.ts';
import { defineBatch, defineInsert, defineRead } from '../../platform/postgres/batch-statements.ts';
import { locking, named, type Sql, sql, valuesIn } from '../../platform/sql.ts';
import { defineProjection, type EventOf } from '../projection.ts';

const insertMember = defineInsert('members', {
  member_id: 'uuid',
  handle: 'text',
  state: 'text',
  key_epoch: 'int',
  registered_at: 'timestamptz',
});

const insertHandle = defineInsert('handles', { hash: 'text', key_id: 'int', member_id: 'uuid' });

const countMembers = defineBatch(
  'membership_totals',
  { change: 'int' },
  (given) => `UPDATE membership_totals
    SET active = active + (SELECT sum(change)::int FROM ${given}) WHERE id = 1`,
);

const events = { ...membership, ...disabling } as const;

export const members = defineProjection(events, {
  name: 'members',
  tables: ['members', 'handles', 'membership_totals'],
  texts: [{ table: 'members', columns: ['handle'] }],
  seed: [sql`INSERT INTO membership_totals (id, active) VALUES (1, 0)`],
  on: {
    MemberRegistered: ({ owner_id, data, personal, recorded_at }) => [
      insertMember({
        member_id: owner_id,
        handle: personal?.handle,
        state: 'active',
        key_epoch: 1,
        registered_at: recorded_at,
      }),
      insertHandle({ hash: data.handle_hash, key_id: data.handle_key_id, member_id: owner_id }),
      countMembers({ change: 1 }),
    ],
    MemberRecovered: ({ owner_id }) =>
      sql`UPDATE members SET key_epoch = key_epoch + 1 WHERE member_id = ${owner_id}`,
    MemberDeactivated: ({ owner_id, data, recorded_at }) => [
      sql`UPDATE members SET state = 'deactivated', handle = NULL, key_epoch = key_epoch + 1,
        deactivated_at = ${recorded_at}, ending = ${endingOf(data)}, disabled_until = NULL
        WHERE member_id = ${owner_id}`,
      countMembers({ change: -1 }),
    ],
    MemberErased: ({ owner_id, recorded_at }) =>
      sql`UPDATE members SET erased_at = ${recorded_at}, ending = NULL
        WHERE member_id = ${owner_id}`,
    MemberDisabled: ({ owner_id, data }) => disable(owner_id, data.until),
    MemberEnabled: ({ owner_id }) => enable(owner_id),
    MemberAppealGranted: ({ owner_id }) => enable(owner_id),
    MemberDecisionUndone({ owner_id, data }) {
      if (data.decision === 'disabled') return enable(owner_id);
      return data.decision === 'upheld' ? [] : disable(owner_id, data.until);
    },
  },
});

/** The next key epoch ends every session and credential of the member, and a later enabling revives none. */
function disable(memberId: string, until: string | null): Sql {
  return sql`UPDATE members SET disabled_until = ${until ?? 'infinity'}::timestamptz,
    key_epoch = key_epoch + 1 WHERE member_id = ${memberId}`;
}

const enable = (memberId: string): Sql =>
  sql`UPDATE members SET disabled_until = NULL WHERE member_id = ${memberId}`;

/** Events of earlier releases ended all records of the member themselves. */
function endingOf({
  in_batches,
  erase_notes,
}: EventOf<typeof events, 'MemberDeactivated'>['data']) {
  if (!in_batches) return null;
  return erase_notes ? 'erases_notes' : 'keeps_notes';
}

export interface MemberRow {
  member_id: string;
  handle: string | null;
  state: 'active' | 'deactivated';
  key_epoch: number;
  registered_at: Date;
  /** Whether the membership is disabled now, by the database's clock. */
  disabled: boolean;
}

const memberById = defineRead<MemberRow>(
  { member_id: 'uuid' },
  ({ member_id }) => `SELECT member_id, handle, state, key_epoch, registered_at,
      coalesce(disabled_until > clock_timestamp(), false) AS disabled
    FROM members WHERE member_id = ${member_id}`,
);

export const findMember = (memberId: string): Sql<MemberRow> => memberById({ member_id: memberId });

/** Rechecks a key that was proven before: a row unless the member has recovered or closed the account since. */
export function keyHolds({ member_id, key_epoch }: MemberRow): Sql {
  return sql`SELECT 1 AS holds FROM members WHERE member_id = ${member_id}
    AND state = 'active' AND key_epoch = ${key_epoch}`;
}

/** Finds an active member by handle. */
export function findMemberByHandle(handle: string): Sql<{ member_id: string; handle: string }> {
  return sql`SELECT member_id, handle FROM members WHERE handle = ${handle}`;
}

/** Deactivated members whose erasure is not complete, oldest deactivation first. */
export function membersToErase(limit: number): Sql<{ member_id: string }> {
  return sql`SELECT member_id FROM members WHERE state = 'deactivated' AND erased_at IS NULL
    ORDER BY deactivated_at LIMIT ${limit}`;
}

/** Finds who uses or ever used a handle, by its hash under each server key. */
export function findHandle(hashes: readonly string[]): Sql<{ member_id: string }> {
  return sql`SELECT member_id FROM handles WHERE hash = ANY(${hashes})`;
}

/** Reads the number of active members and locks the row until the command ends. */
export function lockTotals(): Sql<{ active: number }> {
  const totals = 'SELECT active FROM membership_totals WHERE id = 1';
  return locking(named(fault('no-capacity-lock') ? totals : `${totals} FOR UPDATE`));
}

/** Ids of the server keys under which handles are hashed. */
export const handleKeys = () => valuesIn<{ key_id: number }>('handles', 'key_id');

/** Counts the handles hashed under each server key. */
export function countHandles(): Sql<{ key_id: number; count: number }> {
  return sql`SELECT key_id, count(*)::int AS count FROM handles GROUP BY key_id`;
}

/** SQL: the ids of the members whose accounts were closed and whose records have not all ended yet. */
const ENDING = `ARRAY(SELECT member_id FROM members
  WHERE ending IN ('keeps_notes', 'erases_notes'))`;
const ENDING_WITH_NOTES = `ARRAY(SELECT member_id FROM members WHERE ending = 'erases_notes')`;

/**
 * SQL: whether the records of the member in `column` are not about to end with a closed account.
 * Each statement reads the few such members once, not for each row.
 */
export const stays = (column: string): string => `(${column} = ANY (${ENDING})) IS NOT TRUE`;

/** The same for a note of a closed account in any state: public notes end only if asked for. */
export const hasEnded = (
  note: string,
): string => `(${note}.state <> 'approved' AND NOT ${stays(`${note}.member_id`)}
  OR ${note}.state = 'approved' AND NOT ${noteStays(`${note}.member_id`)})`;

/** The same for public notes, which end only if the member asked for it. */
export const noteStays = (column: string): string =>
  `(${column} = ANY (${ENDING_WITH_NOTES})) IS NOT TRUE`;

export interface PublicNameRow {
  member_id: string;
  /** Null once the account is deleted. */
  handle: string | null;
  /** Whether the member has a public profile. */
  listed: boolean;
}

/** Finds how members may be named in public. */
export function publicNames(ids: readonly string[]): Sql<PublicNameRow> {
  return sql`SELECT m.member_id, m.handle, coalesce(p.state = 'published', false) AS listed
    FROM members m LEFT JOIN profiles p USING (member_id)
    WHERE m.member_id IN (SELECT unnest(${ids}::uuid[]))`;
}

/** Finds an event after the registration: without one, the member has never signed in. */
export const findUse = (memberId: string): Sql<{ type: string }> =>
  sql`SELECT type FROM events WHERE owner_id = ${memberId} AND type <> 'MemberRegistered' LIMIT 1`;

export interface UnusedMember {
  member_id: string;
  handle: string;
  registered_at: Date;
}

/** Members who registered more than `days` ago and did nothing since, oldest first. Reads all members. */
export const unusedMembers = (days: number): Sql<UnusedMember> =>
  sql`SELECT member_id, handle, registered_at FROM members m
    WHERE state = 'active' AND registered_at < now() - make_interval(days => ${days}::int)
      AND NOT EXISTS (SELECT FROM events e
        WHERE e.owner_id = m.member_id AND e.type <> 'MemberRegistered')
    ORDER BY registered_at, member_id`;
