import { setImmediate as endOfTurn } from 'node:timers/promises';
import { patiently, sharedPatience } from '../../platform/postgres/request-deadline.ts';

interface Lane<Result> {
  ended: Promise<void>;
  next?: Promise<Result> | undefined;
}

/**
 * At most one piece of work for a key at a time. Who asks while one is under way waits for the next,
 * which all of them share: every answer was begun after it was asked for, so none is stale. It begins
 * with the end of a turn of the loop, so that what has arrived in that turn shares it too.
 */
export function coalesce<Result>() {
  const lanes = new Map<string, Lane<Result>>();

  return (key: string, work: () => Promise<Result>): Promise<Result> => {
    const lane = lanes.get(key) ?? { ended: Promise.resolve() };
    lanes.set(key, lane);
    const begin = (until: number) => {
      lane.next = undefined;
      const result = sharedPatience(work, until);
      const forget = () => {
        if (!lane.next) lanes.delete(key);
      };
      lane.ended = result.then(forget, forget);
      return result;
    };
    lane.next ??= patiently(async (until) => {
      await lane.ended;
      await endOfTurn();
      return begin(until);
    });
    return lane.next;
  };
}
