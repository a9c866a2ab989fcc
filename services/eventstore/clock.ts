/** For how long a look at the database's clock is trusted, and how far the machine's own may jump. */
const TRUSTED_MS = 1000;
const JUMP_MS = 50;
/** A thousandth slow: a clock that is being set right by degrees is slower by half of that at most. */
const PACE = 0.999;

/**
 * The database's clock, looked at now and then. It does not go back, although an answer may be late,
 * or that clock set back by less than a second: what is dated by it is in the order in which it came.
 */
export function openClock() {
  let seen: { now: number; elapsed: number; wall: number } | undefined;

  /** Where it is by now; unknown where the last look is older, or this machine slept or was set since. */
  function estimate(oldest: number): number | undefined {
    if (!seen) return undefined;
    const elapsed = performance.now() - seen.elapsed;
    const jump = Math.abs(Date.now() - seen.wall - elapsed);
    return elapsed > oldest || jump > JUMP_MS ? undefined : seen.now + elapsed * PACE;
  }

  return {
    /** What the database said, or a little later. */
    saw(told: Date): Date {
      const known = estimate(Infinity) ?? 0;
      const ahead = known - told.getTime();
      const now = ahead > 0 && ahead <= TRUSTED_MS ? known : told.getTime();
      seen = { now, elapsed: performance.now(), wall: Date.now() };
      return new Date(now);
    },
    /** Without a look: behind by the time an answer takes. Unknown a moment after the last one. */
    read(): Date | undefined {
      const now = estimate(TRUSTED_MS);
      return now === undefined ? undefined : new Date(now);
    },
  };
}
