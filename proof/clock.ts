// Moves this process's clock, so that nothing of weight may hang on it: the database's counts.
const shift = Number(process.env.PROOF_CLOCK_MS ?? 0);
if (shift !== 0) {
  const Original = Date;
  class Shifted extends Original {
    constructor(...given: unknown[]) {
      if (given.length === 0) super(Original.now() + shift);
      else super(...(given as [number]));
    }
    static override now(): number {
      return Original.now() + shift;
    }
  }
  globalThis.Date = Shifted as DateConstructor;
}
