import { MODERATION_TOPIC, subjectKey } from '../../../domain/moderation/subject.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { OutcomeUnconfirmed, StorageUnavailable } from '../../../platform/postgres/errors.ts';
import { query } from '../../../platform/postgres/query.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import type { queueContract } from '../queue/contract.ts';
import type { ModerationDeps } from '../queue/deps.ts';
import { readHeldItems } from '../queue/entries.ts';
import { changeLeases, claim } from './claims.ts';
import { leaseBody, liveLeases, releaseLeases, renewLeases } from './leases.ts';

const STATUS = { status: 'ok' as const };

/** The leases are committed by now, so the error must not claim that nothing happened. */
function unread(error: unknown): never {
  throw error instanceof StorageUnavailable
    ? new OutcomeUnconfirmed('claimed, but not read', { cause: error })
    : error;
}

export function claimHandlers(
  deps: ModerationDeps,
): Omit<Handlers<typeof queueContract>, 'moderation.queue'> {
  const { pool, store, wakeUps } = deps;
  const heldItems = readHeldItems(deps);
  // Leases are not events, so each change of leases has to notify the consoles.
  const tellConsoles = () => wakeUps.wake([MODERATION_TOPIC]);
  return {
    'moderation.me': async ({ principal: { moderatorId: id, name, role } }) => {
      const leases = await query(pool, liveLeases(id));
      return {
        status: 200,
        body: { ...STATUS, moderator: { id, name, role }, leases: leases.map(leaseBody) },
      };
    },

    'moderation.claim': async (call) => {
      const { principal: me } = call;
      const claimed = await claim(deps, call, call.body);
      if (isRefusal(claimed)) return claimed;
      tellConsoles();
      const { body: leases, ...extras } = claimed;
      const items = await heldItems(me, leases).catch(unread);
      const of = new Map(leases.map((lease) => [subjectKey(lease.subject), lease]));
      // The claims follow the items: notes by tier and submission time, then records.
      const claims = [...items].flatMap(([key, item]) => {
        const lease = of.get(key);
        return lease ? [{ ...lease, item }] : [];
      });
      return { ...extras, body: { ...STATUS, claims } };
    },

    'moderation.renew': async (call) => {
      const { lease_ids } = call.body;
      const statement = renewLeases(call.principal.moderatorId, lease_ids);
      const changed = await changeLeases(store, call, statement);
      if (isRefusal(changed)) return changed;
      tellConsoles();
      const { body: renewed, ...extras } = changed;
      const lost = lease_ids.filter((id) => !renewed.includes(id));
      return { ...extras, body: { ...STATUS, renewed, lost } };
    },

    'moderation.release': async (call) => {
      const statement = releaseLeases(call.principal.moderatorId, call.body.lease_ids);
      const changed = await changeLeases(store, call, statement);
      if (isRefusal(changed)) return changed;
      tellConsoles();
      const { body: released, ...extras } = changed;
      return { ...extras, body: { ...STATUS, released } };
    },
  };
}
