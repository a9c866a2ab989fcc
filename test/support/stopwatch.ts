const TICK_MS = 10;
/** A longer gap between two ticks is time in which a busy machine did not run this process. */
const MAX_TICK_MS = 50;

/**
 * Starts to measure time as this process has it. For a promise such as "answers within 3 seconds":
 * the service and its timers run in this process, and pause when a busy machine pauses it.
 */
export function startStopwatch(): () => number {
  let milliseconds = 0;
  let before = performance.now();
  const tick = () => {
    const now = performance.now();
    milliseconds += Math.min(now - before, MAX_TICK_MS);
    before = now;
  };
  const timer = setInterval(tick, TICK_MS);
  return () => {
    clearInterval(timer);
    tick();
    return milliseconds;
  };
}
