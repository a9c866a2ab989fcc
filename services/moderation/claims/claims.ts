import { conflict } from '../../../domain/conflict.ts';
import { DECIDERS, LEADS } from '../../../domain/moderation/roles.ts';
import { type Subject, subjectKey } from '../../../domain/moderation/subject.ts';
import { memberOwner } from '../../../domain/owners.ts';
import { lastFact } from '../../../platform/eventstore/append.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import type { EventStore } from '../../../platform/eventstore/event-store.ts';
import {
  type Accepted,
  type Command,
  defineCommand,
  handle,
} from '../../../platform/eventstore/handle.ts';
import { type DependentLoad, loadAfter } from '../../../platform/eventstore/load.ts';
import type { Owner } from '../../../platform/eventstore/owner.ts';
import type { Route } from '../../../platform/http/route.ts';
import { StorageUnavailable } from '../../../platform/postgres/errors.ts';
import { type Refusal, refuse } from '../../../platform/refusal.ts';
import { named, type Sql, sql } from '../../../platform/sql.ts';
import { type NoteOwner, ownerOfNote } from '../../../projections/guestbook/notes.ts';
import { heldRecords } from '../../../projections/publications/record-reports.ts';
import { isLiveLease } from '../../publications/review-leases.ts';
import { type ClaimRequest, MAX_LEASES } from '../queue/contract.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import type { ClaimView, Viewer } from '../queue/queue.ts';
import { byModerator, type ModeratorCall } from '../staff/by-moderator.ts';
import { chargeLeases, refundLeases, usedUpBy } from './claim-times.ts';
import { readOwner } from './claimable-items.ts';
import {
  claimedByOther,
  type Lease,
  type LeaseReply,
  type LeaseRow,
  leaseBody,
  leaseWhere,
  limitReached,
  type NamedLease,
  replyWith,
  subjectOf,
  takeOverAppend,
  takeOverStream,
} from './leases.ts';
import { CLAIMED_BY_OTHERS, claimNext } from './next-claim.ts';

type ClaimRefusal = 'not_found' | 'role_required' | 'state_conflict';

/** Views of pending notes; the items of the others are claimed by those who can decide on them. */
const PENDING_VIEWS: readonly ClaimView[] = ['todo', 'escalated'];

/** What can be claimed besides notes. */
type Kinds = Pick<ModerationDeps, 'publicationKinds' | 'membershipReview'>;

/**
 * How often the next items are picked: with many moderators at one view, others may claim the picked items
 * several times in a row.
 */
const MAX_PICKS = 20;

/** Claims all requested items or none; fewer than `count` only if the view has no more. */
export async function claim<R extends Route>(
  { pool, store, ...kinds }: Kinds & Pick<ModerationDeps, 'pool' | 'store'>,
  call: ModeratorCall<R>,
  request: ClaimRequest,
) {
  const me = call.principal;
  if (!('count' in request)) {
    const takesOver = request.take_over === true && LEADS.includes(me.role);
    const command = claimSubjects(me, kinds, subjectsIn(request), takesOver, commitOf(call));
    return handle(store, byOwner(call), command);
  }
  const { view = 'todo', count } = request;
  if (!PENDING_VIEWS.includes(view) && !DECIDERS.includes(me.role))
    return refuse('role_required', { roles: DECIDERS });
  const { openAppeals } = kinds.membershipReview;
  const command = claimNext(me, view, count, openAppeals, commitOf(call));
  if (view === 'todo' && count === 1 && isKeyed(call)) {
    const policy = byModerator<R, LeaseReply<Lease>>(call, 'exclusive');
    const claimed = await handle(store, policy, command);
    if (claimed !== CLAIMED_BY_OTHERS) return claimed;
  }
  for (let picks = 0; picks < MAX_PICKS; picks++) {
    const claimed = await handle(store, byOwner(call), command);
    if (claimed !== CLAIMED_BY_OTHERS) return claimed;
  }
  throw new StorageUnavailable('others claimed each picked item');
}

/** Runs a statement on the moderator's leases; replies with the ids of the leases that it changed. */
export function changeLeases<R extends Route>(
  store: EventStore,
  call: ModeratorCall<R>,
  statement: Sql<Pick<LeaseRow, 'lease_id'>>,
) {
  const lock = isKeyed(call) ? 'exclusive' : 'alone';
  return handle(store, byModerator<R, LeaseReply<string>>(call, lock), {
    load: { commit: commitOf(call), changed: { ...statement, writes: hasRows } },
    decide({ changed }) {
      const ids = changed.map(({ lease_id }) => lease_id);
      return { appends: [], changesRows: ids.length > 0, reply: () => replyWith(ids) };
    },
  });
}

const hasRows = (rows: readonly unknown[]): boolean => rows.length > 0;

/** Commands on the leases of one moderator wait for each other, so that the limit holds. */
const byOwner = <R extends Route>(call: ModeratorCall<R>) =>
  byModerator<R, LeaseReply<Lease>>(call, 'alone');

/** Whether the call has a receipt. Without one, its transaction does not wait for the disk, as those that it could share do. */
const isKeyed = ({ request }: ModeratorCall): boolean => request.idempotencyKey !== undefined;

/**
 * Has COMMIT not wait for the disk: a lease that is lost in a crash of the database is claimed again. Not
 * with a key, because a receipt must not be lost.
 */
const commitOf = (call: ModeratorCall): Sql | null =>
  isKeyed(call) ? null : sql`SELECT set_config('synchronous_commit', 'off', true)`;

// The statements that follow are in `load`, and write: a decision that changes nothing rolls them back.

/** The requested items, each once by kind and id. */
function subjectsIn(request: Exclude<ClaimRequest, { count: number }>): Subject[] {
  const subjects: Subject[] =
    'subjects' in request
      ? request.subjects
      : request.note_ids.map((id) => ({ type: 'note' as const, id }));
  return [...new Map(subjects.map((subject) => [subjectKey(subject), subject])).values()];
}

interface Reviewable {
  id: string;
  owner: Owner;
  state: string;
  version: number;
  reviewable: boolean;
}

const lockNotes = (ids: readonly string[]): Sql<Omit<Reviewable, 'owner'> & NoteOwner> =>
  sql`SELECT note_id AS id, note_id, owner_id, member_id, state, version, (state IN ('pending', 'approved') OR appeal = 'open'
      OR (state = 'removed' AND erased_at IS NULL)) AS reviewable
    FROM notes WHERE note_id = ANY(${ids}::uuid[]) ORDER BY note_id FOR UPDATE`;

/** Reads and locks items of one kind in the order of their ids; locks a record only if reported. */
function lockItems(
  { publicationKinds, membershipReview }: Kinds,
  type: Subject['type'],
  ids: readonly string[],
) {
  const kind = publicationKinds.find((one) => one.type === type);
  return {
    notes: type === 'note' ? lockNotes(ids) : null,
    held: kind ? heldRecords(kind.type, ids) : null,
    records: kind ? kind.records(ids) : null,
    memberships: type === 'member' ? membershipReview.claimable(ids) : null,
  };
}

/**
 * Leases the free items, and with `takeOver` those of others, whose holders get back the time that
 * they had left; returns the leases that it took from them. `claimSubjects` then checks that the moderator holds all, and
 * the limits.
 */
// The leases that are taken have to be read before they change hands, so the count asks for them.
const leaseSubjects = (
  moderatorId: string,
  subjects: readonly Subject[],
  takeOver: boolean,
): Sql<LeaseRow> =>
  named(
    `WITH picked AS (SELECT * FROM unnest($2::text[], $3::uuid[])
      AS these (subject_type, note_id)),
      taken AS (SELECT l.* FROM note_leases l JOIN picked USING (subject_type, note_id)
        WHERE $4::boolean AND l.moderator_id <> $1 AND ${isLiveLease('l')}
        ORDER BY l.note_id FOR UPDATE OF l),
      refunded AS (${refundLeases('taken')}),
      leased AS (${leaseWhere('$1', '(SELECT count(*) FROM taken) >= 0', '$4::boolean AND note_leases.moderator_id <> $1')}),
      charged AS (${chargeLeases('leased')})
    SELECT * FROM taken`,
    [moderatorId, subjects.map(({ type }) => type), subjects.map(({ id }) => id), takeOver],
  );

/** The leases on these items, and all live ones of the moderator. */
const leasesOn = (
  moderatorId: string,
  subjects: readonly Subject[],
): Sql<NamedLease & { live: boolean }> =>
  named(
    `SELECT l.*, m.name, ${isLiveLease('l')} AS live FROM note_leases l LEFT JOIN moderators m USING (moderator_id)
      WHERE l.note_id = ANY($1::uuid[])
        OR l.moderator_id = $2 AND ${isLiveLease('l')} ORDER BY l.note_id`,
    [subjects.map(({ id }) => id), moderatorId],
  );

function claimSubjects(
  { moderatorId, role }: Viewer,
  review: Kinds,
  subjects: readonly Subject[],
  takesOver: boolean,
  commit: Sql | null,
): Command<LeaseReply<Lease>, ClaimRefusal> {
  // Every call locks in the same order, so that two calls for the same items cannot deadlock.
  const kinds = [...Map.groupBy(subjects, ({ type }) => type)].sort();
  const keys = new Set(subjects.map(subjectKey));
  return defineCommand({
    load: {
      // Taking over is recorded as an event, which must not be lost.
      commit: takesOver ? null : commit,
      items: kinds.map(([type, some]) =>
        lockItems(
          review,
          type,
          some.map(({ id }) => id),
        ),
      ),
      usedUp: usedUpBy(moderatorId, subjects),
      before: leasesOn(moderatorId, subjects),
      takeOvers: (takesOver ? subjects : []).map((one) => readTakeOvers(one, review)),
      taken: leaseSubjects(moderatorId, subjects, takesOver),
      leases: leasesOn(moderatorId, subjects),
    },
    decide({
      items,
      usedUp,
      before,
      takeOvers,
      taken,
      leases,
    }): Accepted<LeaseReply<Lease>> | Refusal<ClaimRefusal> {
      const owners = new Map<string, Owner>();
      if (!LEADS.includes(role) && subjects.some(({ type }) => type === 'member'))
        return refuse('role_required', { roles: LEADS });
      for (const [index, [type, some]] of kinds.entries()) {
        const { notes = [], records = [], memberships } = items[index] ?? {};
        const found: Reviewable[] = [
          ...notes.map((note) => ({ ...note, owner: ownerOfNote(note) })),
          ...records.map(({ subject_id: id, author_id, state, version }) => ({
            id,
            owner: memberOwner(author_id),
            state,
            version,
            reviewable: state !== 'withdrawn',
          })),
          ...(memberships?.members ?? []).map(({ appealed, ...member }) => ({
            ...member,
            owner: memberOwner(member.id),
            reviewable: appealed,
          })),
        ];
        if (found.length < some.length) return refuse('not_found');
        for (const { id, owner } of found) owners.set(subjectKey({ type, id }), owner);
        const settled = found.find(({ reviewable }) => !reviewable);
        if (settled)
          return conflict('wrong_state', {
            ...(type === 'note' ? { note_id: settled.id } : { subject: { type, id: settled.id } }),
            current_state: settled.state,
            current_version: settled.version,
          });
        // A claim on a public item would only keep away those who can decide on it.
        if (!DECIDERS.includes(role) && found.some(({ state }) => state !== 'pending'))
          return refuse('role_required', { roles: DECIDERS });
      }
      const these = leases.filter((row) => keys.has(subjectKey(subjectOf(row))));
      const others = these.find((row) => row.moderator_id !== moderatorId);
      if (others) return claimedByOther(others);
      const held = new Map(
        before.filter(({ live }) => live).map((row) => [subjectKey(subjectOf(row)), row]),
      );
      const spent = usedUp.find((row) => {
        const key = subjectKey(subjectOf(row));
        return keys.has(key) && held.get(key)?.moderator_id !== moderatorId;
      });
      if (spent) return claimTimeUsed(subjectOf(spent), spent.claimable_at);
      const mine = leases.filter((row) => row.moderator_id === moderatorId);
      if (mine.length > MAX_LEASES) return limitReached();
      const leased = these.every(
        (row) => held.get(subjectKey(subjectOf(row)))?.lease_id === row.lease_id,
      );
      const streams = Map.groupBy(takeOvers.flat(), ({ stream_id }) => stream_id);
      return {
        reply: () => replyWith(these.map(leaseBody)),
        changesRows: !leased,
        appends: taken.map((row) => {
          const subject = subjectOf(row);
          const owner = owners.get(subjectKey(subject)) as Owner;
          return takeOverAppend(owner, row, streams.get(takeOverStream(subject)) ?? []);
        }),
      };
    },
  });
}

/** Reads which claim on the item was taken over last. */
function readTakeOvers(
  subject: Subject,
  { publicationKinds }: Kinds,
): DependentLoad<Sql<RecordedEvent> | null> {
  const { find, from } = readOwner(subject, publicationKinds);
  return loadAfter(find, (rows) => {
    const owner = from(rows);
    return owner ? lastFact(owner, takeOverStream(subject)) : null;
  });
}

function claimTimeUsed({ type, id }: Subject, claimableAt: Date): Refusal<'state_conflict'> {
  return conflict('claim_time_used', {
    ...(type === 'note' ? { note_id: id } : { subject: { type, id } }),
    claimable_at: claimableAt.toISOString(),
  });
}
