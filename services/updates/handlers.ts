import type pg from 'pg';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { keptSequence } from '../../platform/eventstore/log-epochs.ts';
import { fault } from '../../platform/fault.ts';
import type { Authenticators, PrincipalOf } from '../../platform/http/principal.ts';
import type { Call, Handlers } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { WaitingPlaces } from '../../platform/limits/waiting-places.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { readUpdates } from '../../projections/updates/feed-page.ts';
import type { updatesContract } from './contract.ts';
import { type FeedPosition, readCursor, writeCursor } from './cursor.ts';
import { type Page, toUpdatesPage } from './page.ts';
import type { UpdatesWaiting } from './waiting.ts';

export interface UpdatesDeps {
  pool: pg.Pool;
  store: Pick<EventStore, 'confirmRestart'>;
  keys: KeyRing;
  waiting: UpdatesWaiting;
  places: WaitingPlaces;
  bearer: Authenticators['bearer'];
}

const TOO_MANY_WAIT = 'Too many requests of this credential wait already.';

type ListRefusal = 'invalid_cursor' | 'cursor_reset' | 'credential_not_accepted' | 'rate_limited';
type ListCall = Call<(typeof updatesContract)['updates.list']>;

export function updatesHandlers(deps: UpdatesDeps): Handlers<typeof updatesContract> {
  const { pool, store, keys, waiting, places } = deps;

  async function read(memberId: string, from: FeedPosition | undefined, limit: number) {
    const after = from?.sequence ?? 0;
    const [row] = await query(pool, readUpdates(memberId, after, limit));
    // A restarted server may show commits that no standby has, and that a failover would lose.
    if (row?.has_standbys) await store.confirmRestart(row.server_started_at);
    if (!row) return refuse('invalid_cursor');
    const reset = from && from.epoch !== row.epoch && (await resetAfter(memberId, from, row.epoch));
    if (reset) return reset;
    if (after > row.head) return refuse('invalid_cursor');
    return toUpdatesPage(keys, memberId, after, row);
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
  ): Promise<Page | Refusal<ListRefusal>> {
    const { memberId, credentialId, expiresAt, provenAt } = call.principal;
    const { limit } = call.query;
    // Both times are by the database's clock. The wait ends no later than the credential expires.
    const seconds = Math.min(call.query.wait, (expiresAt.getTime() - provenAt.getTime()) / 1000);
    const place = places.take(credentialId);
    if (place === 'holder_full') return refuse('rate_limited', { message: TOO_MANY_WAIT });
    // Other callers fill the process's limit of waiting requests: respond without waiting.
    if (place === 'full') return read(memberId, from, limit);
    const listening = waiting.listen(memberId);
    try {
      const page = await read(memberId, from, limit);
      if (isRefusal(page) || !page.empty) return page;
      const gone = call.request.gone();
      await listening.more(from?.sequence ?? 0, seconds, gone);
      if (gone.aborted) return page;
      const later = await read(memberId, from, limit);
      return (await stillProven(call)) ? later : refuse('credential_not_accepted');
    } finally {
      listening.stop();
      place.leave();
    }
  }

  return {
    'updates.list': async (call) => {
      const { memberId } = call.principal;
      const { cursor, limit, wait: seconds } = call.query;
      const from = cursor === undefined ? undefined : readCursor(keys, memberId, cursor);
      if (cursor !== undefined && !from) return refuse('invalid_cursor');
      const page = seconds > 0 ? await wait(call, from) : await read(memberId, from, limit);
      return isRefusal(page) ? page : { status: 200, content: page.content };
    },
  };
}

const isSame = (one: PrincipalOf<'credential'>, other: PrincipalOf<'credential'>) =>
  one.memberId === other.memberId && one.credentialId === other.credentialId;
