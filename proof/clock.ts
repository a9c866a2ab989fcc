// Moves this process's clock, so that nothing of weight may hang on it: the database's counts. Each
// SIGUSR2 moves it to the next of the shifts.
const shifts = (process.env.PROOF_CLOCK_MS ?? '0').split(',').map(Number);
let place = 0;
process.on('SIGUSR2', () => {
  place = (place + 1) % shifts.length;
});
const shift = () => shifts[place] ?? 0;

const Original = Date;
class Shifted extends Original {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(Original.now() + shift());
    else super(...(given as [number]));
  }
  static override now(): number {
    return Original.now() + shift();
  }
}
globalThis.Date = Shifted as DateConstructor;
