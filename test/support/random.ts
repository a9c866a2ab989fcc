/** Numbers below a bound from a seed, which `FC_SEED` gives and a test prints, so that a run can be repeated. */
export function createRandom() {
  const seed = Number(process.env.FC_SEED ?? Date.now() % 1_000_000);
  let state = seed;
  const below = (bound: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const pick = <One>(all: readonly One[]): One => all[below(all.length)] as One;
  return { seed, below, pick };
}
