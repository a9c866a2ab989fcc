// Shifts this process's clock, because the service must rely on the database's clock alone. Each
// SIGUSR2 selects the next shift.
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
