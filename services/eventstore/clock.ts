/** For how long a look at the database's clock is trusted, and how far the machine's own may jump. */
const TRUSTED_MS = 1000;
const JUMP_MS = 50;

/**
 * The database's clock between two looks at it: never ahead of it, and behind it by the time an answer
 * takes to arrive. Unknown a moment after the last look, or where the machine slept or was set meanwhile.
 */
export function openClock() {
  let seen: { now: Date; elapsed: number; wall: number } | undefined;

  return {
    saw(now: Date): void {
      seen = { now, elapsed: performance.now(), wall: Date.now() };
    },
    read(): Date | undefined {
      if (!seen) return undefined;
      const elapsed = performance.now() - seen.elapsed;
      const jump = Math.abs(Date.now() - seen.wall - elapsed);
      if (elapsed > TRUSTED_MS || jump > JUMP_MS) return undefined;
      return new Date(seen.now.getTime() + Math.floor(elapsed));
    },
  };
}
