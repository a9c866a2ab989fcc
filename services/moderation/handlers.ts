import type pg from 'pg';
import { type DecisionRow, findDecision } from '../../projections/decisions.ts';
import type { Config } from '../config.ts';
import { isRefusal, refuse } from '../eventstore/decider.ts';
import type { EventStore } from '../eventstore/store.ts';
import { placeOf, writePlace } from '../http/place.ts';
import type { Handlers } from '../http/route.ts';
import { unixSeconds } from '../http/schemas.ts';
import { query } from '../postgres.ts';
import { MODERATION, type WakeUps } from '../wake-ups.ts';
import { claim, type LeaseRow, liveLeases, releaseLeases, renewLeases } from './claims.ts';
import type { moderationContract } from './contract.ts';
import { decidePlan, undoPlan } from './decide.ts';
import { itemBody, type QueueRow, queueCounts, reviewItems } from './queue.ts';

export interface ModerationParts {
  config: Pick<Config, 'undoWindowSeconds'>;
  pool: pg.Pool;
  store: EventStore;
  wakeUps: WakeUps;
}

const STATUS = { status: 'ok' as const };

export function moderationHandlers({
  config,
  pool,
  store,
  wakeUps,
}: ModerationParts): Handlers<typeof moderationContract> {
  const undoSeconds = config.undoWindowSeconds;
  return {
    'moderation.me': async ({ principal: { moderatorId: id, name, role } }) => {
      const leases = await query<LeaseRow>(pool, liveLeases(id));
      return {
        status: 200,
        body: { ...STATUS, moderator: { id, name, role }, leases: leases.map(leaseBody) },
      };
    },

    'moderation.queue': async ({ principal, query: { cursor, limit } }) => {
      const after = placeOf(cursor);
      if (isRefusal(after)) return after;
      const [rows, [counts]] = await Promise.all([
        query<QueueRow>(pool, reviewItems(limit + 1, after)),
        query<{ todo: number; mine: number }>(pool, queueCounts(principal.moderatorId)),
      ]);
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        status: 200,
        body: {
          ...STATUS,
          items: page.map((row) => itemBody(row, principal)),
          next_cursor: last ? writePlace({ at: last.received, id: last.note_id }) : null,
          counts: counts ?? { todo: 0, mine: 0 },
        },
      };
    },

    'moderation.claim': async ({ principal, body }) => {
      const ids = await claim(pool, principal.moderatorId, body);
      if (isRefusal(ids)) return ids;
      // A lease is no event, so consoles are told apart.
      wakeUps.wake([MODERATION]);
      const rows = await query<QueueRow>(pool, reviewItems(ids.length, undefined, ids));
      const claims = rows.flatMap((row) => {
        const item = itemBody(row, principal);
        if (!item.claim?.mine) return [];
        const { lease_id, expires_at } = item.claim;
        return [{ lease_id, note_id: item.id, expires_at, item }];
      });
      return { status: 200, body: { ...STATUS, claims } };
    },

    'moderation.renew': async ({ principal, body: { lease_ids } }) => {
      const rows = await query<LeaseRow>(pool, renewLeases(principal.moderatorId, lease_ids));
      wakeUps.wake([MODERATION]);
      const renewed = rows.map((row) => row.lease_id);
      const lost = lease_ids.filter((id) => !renewed.includes(id));
      return { status: 200, body: { ...STATUS, renewed, lost } };
    },

    'moderation.release': async ({ principal, body: { lease_ids } }) => {
      const rows = await query<LeaseRow>(pool, releaseLeases(principal.moderatorId, lease_ids));
      wakeUps.wake([MODERATION]);
      return { status: 200, body: { ...STATUS, released: rows.map((row) => row.lease_id) } };
    },

    'moderation.decide': async ({ principal, params, body }) => {
      const decided = await store.execute(decidePlan(principal, params.id, body, undoSeconds));
      return isRefusal(decided) ? decided : { status: 201, body: decided };
    },

    'moderation.undo': async ({ principal, params, body }) => {
      const [decision] = await query<DecisionRow>(pool, findDecision(params.event_id));
      if (!decision) return refuse('not_found');
      const plan = undoPlan(principal, decision, body.expected_version, undoSeconds);
      const undone = await store.execute(plan);
      return isRefusal(undone) ? undone : { status: 201, body: undone };
    },
  };
}

function leaseBody({ lease_id, note_id, expires_at }: LeaseRow) {
  return { lease_id, note_id, expires_at: unixSeconds(expires_at) };
}
