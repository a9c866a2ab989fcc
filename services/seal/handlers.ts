import type pg from 'pg';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { cursorText, nextPage, rowsThatFit, toCursor } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { publicReads } from '../../platform/postgres/replica.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { HASH_BYTES } from '../../platform/tlog/merkle.ts';
import { parseTilePath, TILE_WIDTH } from '../../platform/tlog/tiles.ts';
import { type AuditRow, auditPage } from '../../projections/moderation/audit.ts';
import type { ProvableRecord } from '../publications/publication-kind.ts';
import { sealContract } from './contract.ts';
import type { SealedEvent } from './leaf.ts';
import { proveEvents } from './proofs.ts';
import {
  actsOnCases,
  type EventWithLeaf,
  eventsAt,
  eventsOfOwner,
  firstEventsOfStream,
  leavesAt,
  MAX_RECORD_VERSION,
  newestTile,
  type PublicTree,
  publicCheckpoint,
  publicTree,
} from './tree-store.ts';

export interface SealReadDeps {
  pool: pg.Pool;
  readPool: pg.Pool;
  /** The kinds of records of all capabilities that everyone gets proofs of. */
  provableRecords: readonly ProvableRecord[];
}

/** Fields that everyone may read of an event with which a public record was submitted or published. */
const PUBLIC_ENVELOPE = ['type', 'stream_id', 'recorded_at'];

/**
 * Fields of `data` that a member may read in events which it caused. `reports` and `members` name others, and a hash
 * of a handle is of no use without the service's keys; a field that is new stays closed until it is listed here.
 */
const OPEN_DATA = new Set(
  (
    'appeal_id artifact_id attribution author_id binding by case_id credential_id decision erase_notes ' +
    'experience expires_at kind lease_expires_at lease_seconds member_id note_id of parent_id passkey_id ' +
    'policy_version reason replaces review_id scopes session_id submission_id supersedes_id'
  )
    .split(' ')
    .map((name) => `data.${name}`),
);

/** Of an event in a stream of another, these would tell who owns it, and how much happened there. */
const HIDDEN_ELSEWHERE = ['owner_id', 'stream_version'];

const isOpenToActor = ({ owner_id }: SealedEvent, memberId: string, field: string): boolean =>
  field.startsWith('data')
    ? OPEN_DATA.has(field)
    : owner_id === memberId || !HIDDEN_ELSEWHERE.includes(field);

const isMember = (actor: unknown, memberId: string): boolean => {
  const { type, id } = actor as Partial<Record<'type' | 'id', unknown>>;
  return type === 'member' && id === memberId;
};

const notSealed = () => refuse('not_found', { message: 'Not found: this log is not sealed.' });

/** What the audit shows of an event: neither a text, nor whose stream it is in. */
const isAudited = (_event: SealedEvent, field: string): boolean =>
  field !== 'owner_id' && !field.startsWith('personal');

const formatAuditPlace = ({ epoch }: PublicTree, { position }: AuditRow): string =>
  toCursor(`${epoch} ${position} audit`);

function toAuditPlace(
  cursor: string | undefined,
): { epoch: number; position: number } | undefined | Refusal<'invalid_cursor'> {
  if (cursor === undefined) return undefined;
  const [, epoch, position] =
    /^([1-9]\d{0,8}) ([1-9]\d{0,14}) audit$/.exec(cursorText(cursor) ?? '') ?? [];
  if (!epoch || !position) return refuse('invalid_cursor');
  return { epoch: Number(epoch), position: Number(position) };
}

/** The own events come first, in the order of their streams, then acts on cases of others, in that of positions. */
type Place = { stream: string; version: number } | { position: number };

const formatPlace = (
  { owner_id, stream_id, stream_version, position }: EventWithLeaf,
  memberId: string,
): string =>
  toCursor(
    owner_id === memberId ? `${stream_id} ${stream_version} proofs` : `${position} proofs on cases`,
  );

function toPlace(cursor: string | undefined): Place | Refusal<'invalid_cursor'> {
  if (cursor === undefined) return { stream: '', version: 0 };
  const text = cursorText(cursor) ?? '';
  const [, stream, version] = /^([a-z0-9-]{1,100}) ([1-9]\d{0,8}) proofs$/.exec(text) ?? [];
  if (stream && version) return { stream, version: Number(version) };
  const [, position] = /^([1-9]\d{0,14}) proofs on cases$/.exec(text) ?? [];
  return position ? { position: Number(position) } : refuse('invalid_cursor');
}

const PARTIAL = 'no-cache';
/** A week: after a restore, a tile of the new tree may differ from that of the tree before. */
const FULL = 'public, max-age=604800, immutable';

/** A page of at most `limit` rows that fit by the JSON of `partOf`, and its last row if another page follows. */
function cutPage<Row>(rows: readonly Row[], limit: number, partOf: (row: Row) => unknown) {
  const fitting = rowsThatFit(rows, (row) => [JSON.stringify(partOf(row))]);
  const page = rows.slice(0, Math.min(limit, fitting));
  return { page, last: rows.length > page.length ? page.at(-1) : undefined };
}

type Contract = ReturnType<typeof sealContract>;

function sealHandlers({ pool, readPool, provableRecords }: SealReadDeps): Handlers<Contract> {
  // The role that reads on replicas may read neither the log nor its salts.
  const logPool = publicReads(pool);

  async function tile(...parts: readonly string[]) {
    const place = parseTilePath(parts.join('/'));
    const [stored] = place ? await query(readPool, newestTile(place)) : [];
    const bytes = stored?.hashes.subarray(0, (place?.width ?? 0) * HASH_BYTES);
    if (!place || bytes?.length !== place.width * HASH_BYTES)
      return refuse('not_found', { message: 'Not found: the sealed log has no such tile.' });
    return {
      status: 200 as const,
      content: { type: 'application/octet-stream', bytes },
      headers: { 'cache-control': place.width === TILE_WIDTH ? FULL : PARTIAL },
    };
  }

  /** The events of a member, and its acts on cases of others, after a place. */
  async function actsOf(
    memberId: string,
    { epoch, position }: PublicTree,
    place: Place,
    limit: number,
  ): Promise<EventWithLeaf[]> {
    const own =
      'stream' in place ? await query(pool, eventsOfOwner(epoch, memberId, place, limit)) : [];
    if (own.length === limit) return own;
    const after = 'position' in place ? place.position : 0;
    const left = limit - own.length;
    return [...own, ...(await query(pool, actsOnCases(epoch, memberId, after, position, left)))];
  }

  /** The events at these positions that have a leaf. */
  async function withLeaves({ epoch }: PublicTree, positions: readonly number[]) {
    const [events, leaves] = await Promise.all([
      query(pool, eventsAt(positions)),
      query(pool, leavesAt(epoch, positions)),
    ]);
    const leafAt = new Map(leaves.map((leaf) => [leaf.position, leaf]));
    return events.flatMap((event): EventWithLeaf[] => {
      const leaf = leafAt.get(event.position);
      return leaf ? [{ ...event, ...leaf }] : [];
    });
  }

  return {
    'log.checkpoint': async () => {
      const [newest] = await query(readPool, publicCheckpoint());
      if (!newest) return notSealed();
      return {
        status: 200,
        content: { type: 'text/plain; charset=utf-8', bytes: newest.checkpoint },
        headers: { 'cache-control': PARTIAL },
      };
    },
    'log.tile': ({ params }) => tile(params.level, params.tile),
    'log.tile_2': ({ params }) => tile(params.level, params.tile, params.part),
    'log.tile_3': ({ params }) => tile(params.level, params.tile, params.part, params.last),

    'log.record_proof': async ({ params: { type, id } }) => {
      const [tree] = await query(logPool, publicTree());
      if (!tree) return notSealed();
      const record = provableRecords.find((kind) => kind.type === type);
      const [found] = record ? await query(logPool, record.owner(id)) : [];
      if (!record || !found) return refuse('not_found');
      const types = Object.keys(record.events);
      const events = await query(
        logPool,
        firstEventsOfStream(
          tree.epoch,
          found.owner_id,
          record.stream(id),
          types,
          MAX_RECORD_VERSION,
        ),
      );
      const proofs = await proveEvents(
        logPool,
        tree,
        events,
        (event, field) =>
          PUBLIC_ENVELOPE.includes(field) || record.events[event.type]?.includes(field) === true,
      );
      return {
        status: 200,
        body: {
          status: 'ok',
          checkpoint: tree.checkpoint,
          events: proofs,
          unsealed: events.length - proofs.length,
        },
        headers: { 'cache-control': PARTIAL },
      };
    },

    'log.own_proofs': async ({ principal: { memberId }, query: { cursor, limit } }) => {
      const place = toPlace(cursor);
      if (isRefusal(place)) return place;
      const [tree] = await query(pool, publicTree());
      if (!tree) return notSealed();
      const rows = await actsOf(memberId, tree, place, limit + 1);
      const { page, last } = cutPage(rows, limit, ({ personal }) => personal);
      const own = page.filter(({ actor }) => isMember(actor, memberId));
      return {
        status: 200,
        body: {
          status: 'ok',
          checkpoint: tree.checkpoint,
          events: await proveEvents(pool, tree, own, (event, field) =>
            isOpenToActor(event, memberId, field),
          ),
          ...nextPage(last && formatPlace(last, memberId)),
        },
      };
    },

    'log.audit_proofs': async ({ query: { cursor, limit } }) => {
      const place = toAuditPlace(cursor);
      if (place && isRefusal(place)) return place;
      const [tree] = await query(pool, publicTree());
      if (!tree) return notSealed();
      // After a restore, other events may have the same positions.
      if (place && place.epoch !== tree.epoch) return refuse('invalid_cursor');
      const after = place?.position ?? 0;
      const rows = await query(pool, auditPage('oldest', after, tree.position, limit + 1));
      const { page, last } = cutPage(rows, limit, ({ data }) => data);
      const positions = page.map(({ position }) => position);
      return {
        status: 200,
        body: {
          status: 'ok',
          checkpoint: tree.checkpoint,
          events: await proveEvents(pool, tree, await withLeaves(tree, positions), isAudited),
          ...nextPage(last && formatAuditPlace(tree, last)),
        },
      };
    },
  };
}

export const routes = (deps: SealReadDeps): readonly Routes[] => [
  implement(sealContract(deps.provableRecords), sealHandlers(deps)),
];
