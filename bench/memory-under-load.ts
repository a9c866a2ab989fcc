import type { LongBenchmark } from './environment.ts';
import { posts, reads, startBoth } from './guestbook.ts';
import { readMemory } from './process-usage.ts';

const SECONDS = 20;
const AIM = 1.5;

/** Compares the peak memory of a web process under guestbook load with that of bare Express. */
export const memoryUnderLoad: LongBenchmark = {
  name: 'memory',
  async measure(setting) {
    const both = await startBoth(setting);
    const peaks: number[] = [];
    for (const { base, pid } of both) {
      await Promise.all([posts(base).run(SECONDS), reads(base).run(SECONDS)]);
      peaks.push(readMemory(pid)?.peak ?? Number.NaN);
    }
    const [ours = Number.NaN, floor = Number.NaN] = peaks;
    const ratio = ours / floor;
    process.stdout.write(
      `memory of a web process, ${SECONDS} s of reads and writes / bare Express: ${ratio.toFixed(2)} ` +
        `(peak ${ours.toFixed(0)} MiB against ${floor.toFixed(0)} MiB), at most ${AIM}: ${ratio <= AIM ? 'met' : 'missed'}\n`,
    );
  },
};
