import type { Parameters } from 'fast-check';

/**
 * How often a property is tried: `usual` times, or `LONG_RUNS` times where that is set
 * (`npm run test:long`). A failure prints its seed and path; `FC_SEED` and `FC_PATH` repeat it.
 */
export function tries(usual: number): Parameters<unknown> {
  const { LONG_RUNS, FC_SEED, FC_PATH } = process.env;
  return {
    numRuns: LONG_RUNS ? Number(LONG_RUNS) : usual,
    ...(FC_SEED ? { seed: Number(FC_SEED) } : {}),
    ...(FC_PATH ? { path: FC_PATH } : {}),
  };
}

/** The same where each try is many requests: a twentieth of the long form. */
export function fewer(usual: number): Parameters<unknown> {
  const { numRuns = usual, ...rest } = tries(usual);
  return { ...rest, numRuns: process.env.LONG_RUNS ? Math.ceil(numRuns / 20) : numRuns };
}

/** Answers that were given in all sequences, to show that nothing was left untried. */
export function answersOf<Step extends { type: string }>() {
  const seen = new Set<string>();
  return {
    seen,
    /** Throws where the answer is not the model's. */
    agree(step: Step, answer: string, model: string): void {
      if (answer !== model)
        throw new Error(`${JSON.stringify(step)}: ${answer}, where the model says ${model}`);
      seen.add(`${step.type} ${answer}`);
    },
  };
}

/** Throws where what is there is not what the model has. */
export function same(there: unknown, model: unknown): void {
  const [left, right] = [JSON.stringify(there), JSON.stringify(model)];
  if (left !== right) throw new Error(`${left}, where the model has ${right}`);
}
