import { setImmediate as endOfTurn } from 'node:timers/promises';
import { readsFromPrimary } from './replica.ts';
import { sharedWithinDeadline, withDeadline } from './request-deadline.ts';

interface Lane<Result> {
  ended: Promise<void>;
  next?: Promise<Result> | undefined;
}

/**
 * Runs `work` at most once at a time per key. Calls that arrive during a run share the next run, so
 * every result comes from a run that started after its call, and no result is stale. A run starts
 * at the end of an event loop turn, so that all calls of that turn share the run. Calls that read
 * from the primary share no run with those that may read from a replica.
 */
export function createCoalescer<Result>() {
  const lanes = new Map<string, Lane<Result>>();

  return (name: string, work: () => Promise<Result>): Promise<Result> => {
    const key = readsFromPrimary() ? `primary ${name}` : name;
    const lane = lanes.get(key) ?? { ended: Promise.resolve() };
    lanes.set(key, lane);
    const begin = (until: number) => {
      lane.next = undefined;
      const result = withDeadline(work, until);
      const forget = () => {
        if (!lane.next) lanes.delete(key);
      };
      lane.ended = result.then(forget, forget);
      return result;
    };
    lane.next ??= sharedWithinDeadline(async (until) => {
      await lane.ended;
      await endOfTurn();
      return begin(until);
    });
    return lane.next;
  };
}
