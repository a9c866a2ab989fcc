import type pg from 'pg';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { keptSequence } from '../../platform/eventstore/log-epochs.ts';
import type { LogWatch } from '../../platform/eventstore/log-watch.ts';
import { fault } from '../../platform/fault.ts';
import type { Authenticators, PrincipalOf } from '../../platform/http/principal.ts';
import { type Call, type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { WaitingPlaces } from '../../platform/limits/waiting-places.ts';
import type { Engine } from '../../platform/postgres/engine.ts';
import { StorageUnavailable } from '../../platform/postgres/errors.ts';
import { query } from '../../platform/postgres/query.ts';
import { mergedRead } from '../../platform/postgres/read-together.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import {
  readUpdates,
  readUpdatesOfTypes,
  type UpdatesRow,
} from '../../projections/updates/feed-page.ts';
import { updatesContract } from './contract.ts';
import { type FeedPosition, readCursor, writeCursor } from './cursor.ts';
import { toUpdatesPage, type UpdatesResponse } from './page.ts';
import type { UpdatesWaiting } from './waiting.ts';

export interface UpdatesDeps {
  pool: pg.Pool;
  store: Pick<EventStore, 'confirmRestart'>;
  keys: KeyRing;
  waiting: UpdatesWaiting;
  engine: Engine;
  logWatch: Pick<LogWatch, 'isLost'>;
  places: WaitingPlaces;
  bearer: Authenticators['bearer'];
}

const TOO_MANY_WAIT = 'Too many requests of this credential wait already.';

type ListRefusal = 'invalid_cursor' | 'cursor_reset' | 'credential_not_accepted' | 'rate_limited';
type AskedUpdates = Pick<ListCall['query'], 'limit' | 'types'>;
type ListCall = Call<(typeof updatesContract)['updates.list']>;

function updatesHandlers(deps: UpdatesDeps): Handlers<typeof updatesContract> {
  const { pool, store, keys, waiting, places } = deps;
  const readPage = deps.engine.distributed
    ? async (read: Sql<UpdatesRow>) => (await query(pool, read))[0]
    : mergedRead<UpdatesRow>(pool);

  async function read(memberId: string, from: FeedPosition | undefined, asked: AskedUpdates) {
    const after = from?.sequence ?? 0;
    const { limit, types } = asked;
    // What is read now may get other successors than those that clients have seen.
    if (deps.logWatch.isLost()) throw new StorageUnavailable('acknowledged writes may be lost');
    const row = types
      ? (await query(pool, readUpdatesOfTypes(memberId, after, limit, types)))[0]
      : await readPage(readUpdates(memberId, after, limit));
    // A restarted server may show commits that no standby has, and that a failover would lose.
    if (row?.has_standbys) await store.confirmRestart(row.server_started_at);
    if (!row) throw new StorageUnavailable('the member has no feed');
    const reset = from && from.epoch !== row.epoch && (await resetAfter(memberId, from, row.epoch));
    if (reset) return reset;
    // The cursor is one of this service, so the log lacks events, or this server is behind.
    if (after > row.head) throw new StorageUnavailable('the cursor is ahead of the log');
    return toUpdatesPage(keys, memberId, after, row);
  }

  /** The position of the newest entry. */
  async function newest(memberId: string): Promise<FeedPosition | undefined> {
    const row = await readPage(readUpdates(memberId, 0, 0));
    if (row?.has_standbys) await store.confirmRestart(row.server_started_at);
    return row && { sequence: row.head, epoch: row.epoch };
  }

  /** Refuses a position of an earlier epoch that lies beyond what a restore has kept. */
  async function resetAfter(memberId: string, from: FeedPosition, epoch: number) {
    if (fault('no-epoch')) return undefined;
    const [row] = await query(pool, keptSequence(memberId, from.epoch));
    const sequence = row?.kept ?? 0;
    if (from.sequence <= sequence) return undefined;
    const cursor = writeCursor(keys, memberId, { sequence, epoch });
    return refuse('cursor_reset', { kept_through: sequence, epoch, cursor });
  }

  /** Authenticates again before the response, because the bearer may have ended during the wait. */
  async function stillProven({ principal, request }: ListCall): Promise<boolean> {
    const again = await deps.bearer(request);
    return !isRefusal(again) && isSame(again, principal);
  }

  async function wait(
    call: ListCall,
    from: FeedPosition | undefined,
  ): Promise<UpdatesResponse | Refusal<ListRefusal>> {
    const { memberId, credentialId, expiresAt, provenAt } = call.principal;
    // Both times are by the database's clock. The wait ends no later than the credential expires.
    const seconds = Math.min(call.query.wait, (expiresAt.getTime() - provenAt.getTime()) / 1000);
    const until = performance.now() + seconds * 1000;
    const place = places.take({ kind: 'credential', id: credentialId });
    if (place === 'holder_full')
      return refuse('rate_limited', { message: TOO_MANY_WAIT, limit: places.limits.perHolder });
    // Other callers fill the process's limit of waiting requests: respond without waiting.
    if (place === 'full') return read(memberId, from, call.query);
    const listening = waiting.listen(memberId);
    try {
      let page = await read(memberId, from, call.query);
      if (isRefusal(page) || !page.empty || page.hasMore) return page;
      const gone = call.request.gone();
      // An event of another type wakes the loop, but does not end the wait.
      for (let left = seconds; left > 0; left = (until - performance.now()) / 1000) {
        await listening.more(page.next.sequence, left, gone);
        if (gone.aborted) return page;
        const later: Awaited<ReturnType<typeof read>> = await read(memberId, page.next, call.query);
        if (isRefusal(later)) return later;
        page = later;
        if (!page.empty || page.hasMore || !call.query.types) break;
      }
      return (await stillProven(call)) ? page : refuse('credential_not_accepted');
    } finally {
      listening.stop();
      place.leave();
    }
  }

  return {
    'updates.list': async (call) => {
      const { memberId } = call.principal;
      const { cursor, start, wait: seconds } = call.query;
      if (start && cursor !== undefined)
        return refuse('invalid_request', {
          issues: [{ path: 'start', message: 'must not be sent together with cursor' }],
        });
      const from = start
        ? await newest(memberId)
        : cursor === undefined
          ? undefined
          : readCursor(keys, memberId, cursor);
      if (cursor !== undefined && !from) return refuse('invalid_cursor');
      const page = seconds > 0 ? await wait(call, from) : await read(memberId, from, call.query);
      return isRefusal(page) ? page : page.reply;
    },
  };
}

const isSame = (one: PrincipalOf<'credential'>, other: PrincipalOf<'credential'>) =>
  one.memberId === other.memberId && one.credentialId === other.credentialId;

export const routes = (deps: UpdatesDeps): readonly Routes[] => [
  implement(updatesContract, updatesHandlers(deps)),
];
