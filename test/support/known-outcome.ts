import type { ApiResponse } from '../../harness/api.ts';
import { OutcomeUnconfirmed } from '../../platform/postgres/errors.ts';

const TURNS = 5;

/**
 * Repeats an attempt whose outcome could not be queried in time, as may happen on a busy machine.
 * `isUnconfirmed` defaults to that of an answer over HTTP.
 */
export async function untilOutcomeKnown<Result>(
  attempt: (turn: number) => Promise<Result>,
  isUnconfirmed: (result: Result) => boolean = isUnconfirmedAnswer,
): Promise<Result> {
  for (let turn = 1; ; turn++) {
    const result = await attempt(turn);
    if (turn === TURNS || !isUnconfirmed(result)) return result;
  }
}

const isUnconfirmedAnswer = (result: unknown): boolean =>
  (result as ApiResponse).body?.error?.code === 'outcome_unconfirmed';

export const isUnconfirmedError = (error: unknown): boolean => error instanceof OutcomeUnconfirmed;
