import type { Parameters } from 'fast-check';

/**
 * Options of a property test: `usual` runs, or `LONG_RUNS` runs if set (`npm run test:long`).
 * A failure prints its seed and path; `FC_SEED` and `FC_PATH` repeat it.
 */
export function tries(usual: number): Parameters<unknown> {
  const { LONG_RUNS, FC_SEED, FC_PATH } = process.env;
  return {
    numRuns: LONG_RUNS ? Number(LONG_RUNS) : usual,
    ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
    ...(FC_PATH ? { path: FC_PATH } : {}),
  };
}

/** Like `tries`, for runs of many requests each: a twentieth of `LONG_RUNS`. */
export function fewerTries(usual: number): Parameters<unknown> {
  const { numRuns = usual, ...rest } = tries(usual);
  return { ...rest, numRuns: process.env.LONG_RUNS ? Math.ceil(numRuns / 20) : numRuns };
}

/** Collects the answers of all sequences, to check that none was left untried. */
export function answersOf<Step extends { type: string }>() {
  const seen = new Set<string>();
  return {
    seen,
    /** Throws if the answer differs from the model's. */
    agree(step: Step, answer: string, model: string): void {
      if (answer !== model)
        throw new Error(`${JSON.stringify(step)}: ${answer}, where the model says ${model}`);
      seen.add(`${step.type} ${answer}`);
    },
  };
}

/** Throws if a value differs from the model's, compared as JSON. */
export function same(actual: unknown, model: unknown): void {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(model)];
  if (left !== right) throw new Error(`${left}, where the model has ${right}`);
}
