import { setImmediate as endOfTurn } from 'node:timers/promises';
import { withDeadline, withinDeadline } from './request-deadline.ts';

interface Lane<Result> {
  ended: Promise<void>;
  next?: Promise<Result> | undefined;
}

/**
 * Runs `work` at most once at a time per key. Calls that arrive during a run share the next run, so
 * every result comes from a run that started after its call, and no result is stale. A run starts
 * at the end of an event loop turn, so that all calls of that turn share the run.
 */
export function createCoalescer<Result>() {
  const lanes = new Map<string, Lane<Result>>();

  return (key: string, work: () => Promise<Result>): Promise<Result> => {
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
    lane.next ??= withinDeadline(async (until) => {
      await lane.ended;
      await endOfTurn();
      return begin(until);
    });
    return lane.next;
  };
}
