/** One side of a comparison. */
export interface Contender {
  /** Prepares a turn of so many seconds; not measured. */
  prepare?(seconds: number): Promise<void>;
  /** Runs for about `seconds` and returns its rate in operations per second. */
  run(seconds: number): Promise<number>;
}

/** This service and one or more floors (baselines), measured in the same rounds. */
export interface Comparison {
  name: string;
  ours: Contender;
  floors: readonly { name: string; aim: number; contender: Contender }[];
  /** A line about what was seen besides the rates. */
  seen?(): string;
}

export interface Pace {
  rounds: number;
  /** Duration of each side's turn in a round. */
  seconds: number;
}

export interface Result {
  name: string;
  floor: string;
  /** Operations per second, as medians over all rounds. */
  ours: number;
  theirs: number;
  /** Median of the rounds' ratios, so that a slow moment of the machine has little effect. */
  ratio: number;
  /** Smallest and largest ratio of a round. */
  range: readonly [number, number];
  aim: number;
  met: boolean;
  /** What is printed, if not the comparison of the rates. */
  line?: string;
}

/** Runs rounds of short turns, so that other load on the machine affects all sides alike. */
export async function compare(
  { name, ours, floors }: Comparison,
  { rounds, seconds }: Pace,
): Promise<Result[]> {
  const sides = [ours, ...floors.map(({ contender }) => contender)];
  const turn = async (side: Contender | undefined) => {
    await side?.prepare?.(seconds);
    return (await side?.run(seconds)) ?? 0;
  };
  for (const side of sides) await turn(side);
  const measured = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    const turns = [...sides.keys()];
    // Reverse the order in every other round, so that no side always runs first.
    for (const side of round % 2 === 0 ? turns : turns.reverse())
      measured[side]?.push(await turn(sides[side]));
  }
  const [mine = [], ...others] = measured;
  return floors.map((floor, index) => {
    const theirs = others[index] ?? [];
    const ratios = mine.map((rate, round) => rate / (theirs[round] ?? Number.NaN));
    const ratio = median(ratios);
    return {
      name,
      floor: floor.name,
      ours: median(mine),
      theirs: median(theirs),
      ratio,
      range: [Math.min(...ratios), Math.max(...ratios)],
      aim: floor.aim,
      met: ratio >= floor.aim,
    };
  });
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}
