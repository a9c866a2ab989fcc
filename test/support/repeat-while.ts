import type { ApiResponse } from '../../harness/api.ts';
import { OutcomeUnconfirmed } from '../../platform/postgres/errors.ts';

/**
 * Repeats an attempt that a busy machine may spoil, in all at most `turns` times; returns the last result, which the
 * caller then checks.
 */
export async function repeatWhile<Result>(
  isSpoiled: (result: Result) => boolean,
  attempt: (turn: number) => Promise<Result>,
  turns = 5,
): Promise<Result> {
  for (let turn = 1; ; turn++) {
    const result = await attempt(turn);
    if (turn === turns || !isSpoiled(result)) return result;
  }
}

/** Whether the outcome of a command could not be queried in time. */
export const isUnconfirmed = ({ body }: ApiResponse): boolean =>
  body?.error?.code === 'outcome_unconfirmed';
export const isUnconfirmedError = (error: unknown): boolean => error instanceof OutcomeUnconfirmed;
