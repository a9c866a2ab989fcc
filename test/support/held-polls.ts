import { once } from 'node:events';
import type { Service } from './service.ts';

/** Counts the long polls of a service that hold a place, from now on. */
export function countHeldPolls({ core: { wakeUps } }: Service) {
  let held = 0;
  const changes = new EventTarget();
  const change = (by: number) => {
    held += by;
    changes.dispatchEvent(new Event('change'));
  };
  const { subscribe } = wakeUps;
  // A request subscribes when it takes its place, and unsubscribes when it leaves it.
  wakeUps.subscribe = (...args) => {
    const stop = subscribe(...args);
    change(1);
    return () => {
      stop();
      change(-1);
    };
  };
  return {
    count: () => held,
    /** Waits until so many hold a place. */
    until: async (count: number) => {
      while (held !== count) await once(changes, 'change');
    },
  };
}
