import type pg from 'pg';
import { reviewSubject } from '../../../domain/moderation/subject.ts';
import {
  currentEpoch,
  FIRST_EPOCH,
  keptPosition,
} from '../../../platform/eventstore/log-epochs.ts';
import { newestPosition } from '../../../platform/eventstore/subscription.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { cursorText, toCursor, toPage } from '../../../platform/keyset-cursor.ts';
import { query } from '../../../platform/postgres/query.ts';
import { snapshot } from '../../../platform/postgres/reads.ts';
import { withDeadline } from '../../../platform/postgres/request-deadline.ts';
import { isRefusal, refuse } from '../../../platform/refusal.ts';
import {
  type AuditFilters,
  type AuditRow,
  auditPage,
} from '../../../projections/moderation/audit.ts';
import {
  type ModeratorName,
  moderatorNames,
  type NamedActor,
  nameActors,
} from '../../../projections/moderation/moderators.ts';
import { type auditContract, type Entry, NDJSON } from './contract.ts';

const BATCH = 500;
/** The first range of positions that a read covers, and how much larger each further range is. */
const RANGE_POSITIONS = 10_000;
const RANGE_GROWTH = 8;

type Order = 'oldest' | 'newest';
type NamedRow = AuditRow & NamedActor;

export function auditHandlers({ pool }: { pool: pg.Pool }): Handlers<typeof auditContract> {
  /** The newest position, where a read in either order ends or starts. */
  const newest = async () => (await query(pool, newestPosition()))[0]?.position ?? 0;

  /**
   * Reads at most `limit` entries beyond `from`, up to the position `end`, for which one of the
   * `filters` holds: several moderators may have one name. Ranges of the log that
   * hold few entries are read in ever larger steps.
   */
  async function read(
    order: Order,
    from: number | undefined,
    end: number,
    limit: number,
    filters: readonly AuditFilters[],
  ): Promise<NamedRow[]> {
    const found: NamedRow[] = [];
    let after = order === 'oldest' ? (from ?? 0) : 0;
    let to = order === 'oldest' ? end : Math.min(end, (from ?? Infinity) - 1);
    for (let size = RANGE_POSITIONS; after < to && found.length < limit; size *= RANGE_GROWTH) {
      const [low, high] =
        order === 'oldest' ? [after, Math.min(to, after + size)] : [Math.max(after, to - size), to];
      const [moderators, ...entries] = await snapshot<[ModeratorName, ...AuditRow[]]>(pool, [
        moderatorNames(),
        ...filters.map((filter) => auditPage(order, low, high, limit - found.length, filter)),
      ]);
      const sign = order === 'oldest' ? 1 : -1;
      const rows = entries.flat().sort((one, other) => sign * (one.position - other.position));
      found.push(...nameActors(rows.slice(0, limit - found.length), moderators));
      if (order === 'oldest') after += size;
      else to -= size;
    }
    return found;
  }

  /**
   * The position from which a cursor continues, and the epoch of the log. Beyond the kept position of
   * a restore, a reader of the oldest has seen entries that are lost, and may miss others.
   */
  async function start(cursor: string | undefined, order: Order) {
    const from = cursor === undefined ? undefined : readCursor(cursor, order);
    if (cursor !== undefined && !from) return refuse('invalid_cursor');
    const epoch = (await query(pool, currentEpoch()))[0]?.epoch ?? FIRST_EPOCH;
    if (from && from.epoch !== epoch) {
      const kept = (await query(pool, keptPosition(from.epoch)))[0]?.kept ?? 0;
      const next = writeCursor({ position: order === 'oldest' ? kept : kept + 1, epoch }, order);
      if (from.position > kept)
        return refuse('cursor_reset', { kept_through: kept, epoch, cursor: next });
    }
    return { position: from?.position, epoch };
  }

  /** The ids of the moderators, present or former, with this id or name. */
  async function moderatorsCalled(idOrName: string): Promise<string[]> {
    const moderators = await query(pool, moderatorNames());
    return moderators
      .filter(({ moderator_id, name }) => moderator_id === idOrName || name === idOrName)
      .map(({ moderator_id }) => moderator_id);
  }

  /** Streams all entries that exist at the start, in batches, so that any length fits in memory. */
  async function* lines(
    order: Order,
    from: number | undefined,
    filters: readonly AuditFilters[],
  ): AsyncGenerator<string> {
    const end = await newest();
    for (let place = from; ; ) {
      // Each batch has the full deadline of a request.
      const rows = await withDeadline(() => read(order, place, end, BATCH, filters));
      if (rows.length > 0) yield rows.map((row) => `${JSON.stringify(entryBody(row))}\n`).join('');
      if (rows.length < BATCH) return;
      place = rows.at(-1)?.position;
    }
  }

  return {
    'moderation.audit': async ({
      query: { cursor, limit, order, format, moderator, policy, subject },
      request,
    }) => {
      const from = await start(cursor, order);
      if (isRefusal(from)) return from;
      const ids = moderator === undefined ? [undefined] : await moderatorsCalled(moderator);
      const filters = ids.map((moderatorId) => ({ moderatorId, policy, subject }));
      const asked = format ?? (request.accept?.includes(NDJSON) ? 'ndjson' : 'json');
      if (asked === 'ndjson')
        return { status: 200, stream: lines(order, from.position, filters), type: NDJSON };
      const rows = await read(order, from.position, await newest(), limit + 1, filters);
      const page = toPage('audit', rows, limit, ({ position }) =>
        writeCursor({ position, epoch: from.epoch }, order),
      );
      return {
        status: 200,
        body: {
          status: 'ok',
          entries: page.rows.map(entryBody),
          ...page.next,
        },
      };
    },
  };
}

interface LogPosition {
  position: number;
  epoch: number;
}

function writeCursor({ position, epoch }: LogPosition, order: Order): string {
  return toCursor(`${order} ${position} ${epoch}`);
}

function readCursor(cursor: string, order: Order): LogPosition | undefined {
  // Before there were epochs, a cursor ended with its position.
  const [, of, position, epoch] =
    /^([a-z]+) (0|[1-9]\d{0,14})(?: (0|[1-9]\d{0,14}))?$/.exec(cursorText(cursor) ?? '') ?? [];
  if (of !== order || !position) return undefined;
  return { position: Number(position), epoch: Number(epoch ?? FIRST_EPOCH) };
}

function entryBody(row: NamedRow): Entry {
  return {
    position: row.position,
    id: row.event_id,
    type: row.type,
    occurred_at: row.recorded_at.toISOString(),
    actor: { ...row.actor, ...(row.actor_name === null ? {} : { name: row.actor_name }) },
    subject: reviewSubject(row.stream_id),
    version: row.stream_version,
    data: row.data,
  };
}
