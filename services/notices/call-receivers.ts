import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { settledPosition } from '../../platform/eventstore/subscription.ts';
import { CallFailed, postToReceiver } from '../../platform/http/post-to-receiver.ts';
import { query } from '../../platform/postgres/query.ts';
import { gather } from './gather.ts';
import { type Receiver, receiversOf, toCall } from './messages.ts';
import {
  accepted,
  addReceiver,
  failed,
  keepMessage,
  passOver,
  takeDueReceiver,
} from './receiver-state.ts';

export interface NoticeDeps {
  config: Pick<Config, 'notifyUrls' | 'notifyPrivateHosts' | 'baseUrl'>;
  pool: pg.Pool;
}

type Outcome = 'accepted' | 'nothing' | 'not_due' | CallFailed;

/**
 * Calls each receiver whose turn it is, all at the same time, so that none waits for another. A
 * message is repeated, with the same id, until its receiver accepts it; the receiver's place in the
 * log moves only then. Resolves to what failed, by the names of the receivers; `postponed` that another
 * transaction stayed open, whose events must not be passed over, so that the next run calls.
 */
export async function callReceivers(
  deps: NoticeDeps,
): Promise<{ failures: Record<string, string>; postponed?: true }> {
  const receivers = receiversOf(deps.config.notifyUrls);
  if (receivers.length === 0) return { failures: {} };
  const end = await settledPosition(deps.pool);
  if (end === undefined) return { failures: {}, postponed: true };
  const outcomes = await Promise.all(
    receivers.map((receiver) => callReceiver(deps, receiver, end)),
  );
  const failures = Object.fromEntries(
    receivers.flatMap(({ name }, index) => {
      const outcome = outcomes[index];
      return outcome instanceof CallFailed ? [[name, outcome.reason]] : [];
    }),
  );
  return { failures };
}

async function callReceiver(deps: NoticeDeps, receiver: Receiver, end: number): Promise<Outcome> {
  const { pool, config } = deps;
  const { key } = receiver;
  await query(pool, addReceiver(key, end));
  const [row] = await query(pool, takeDueReceiver(key));
  if (!row) return 'not_due';
  let { pending } = row;
  if (!pending) {
    const { place, message } = await gather(pool, row, end);
    await query(pool, message ? keepMessage(key, message) : passOver(key, place));
    if (!message) return 'nothing';
    pending = message;
  }
  try {
    const call = toCall(receiver, pending, config.baseUrl, new Date());
    await postToReceiver({ url: receiver.url, privateHosts: config.notifyPrivateHosts, ...call });
    await query(pool, accepted(key, pending.id));
    return 'accepted';
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    await query(pool, failed(key, pending.id, error.reason));
    return error;
  }
}
