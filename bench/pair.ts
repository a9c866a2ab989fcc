/** One side of a pair. */
export interface Contender {
  /** Works for about this long and answers how many operations a second it did. */
  run(seconds: number): Promise<number>;
}

/** This service beside one or more floors, measured in the same rounds. */
export interface Comparison {
  name: string;
  ours: Contender;
  floors: readonly { name: string; aim: number; contender: Contender }[];
}

export interface Pace {
  rounds: number;
  /** Of each side in each round. */
  seconds: number;
}

export interface Result {
  name: string;
  floor: string;
  /** Operations a second: the medians of all rounds. */
  ours: number;
  theirs: number;
  /** The median of each round's own ratio, so that a slow moment of the machine counts little. */
  ratio: number;
  /** The least and the greatest round's ratio. */
  range: readonly [number, number];
  aim: number;
  met: boolean;
}

/** Rounds of short turns: what else the machine does falls on all sides alike. */
export async function compare(
  { name, ours, floors }: Comparison,
  { rounds, seconds }: Pace,
): Promise<Result[]> {
  const sides = [ours, ...floors.map(({ contender }) => contender)];
  for (const side of sides) await side.run(seconds);
  const measured = sides.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    const turns = [...sides.keys()];
    // Every other round the other way about, so that no side always comes first.
    for (const side of round % 2 === 0 ? turns : turns.reverse())
      measured[side]?.push((await sides[side]?.run(seconds)) ?? 0);
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
