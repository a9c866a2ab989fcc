/**
 * A refused command, as a value: the problem code and the details for the client. Only
 * http/problems.ts maps codes to HTTP statuses.
 */
export interface Refusal<Code extends string = string> {
  refused: Code;
  details?: Record<string, unknown>;
}

/** Creates a refusal. */
export function refuse<const Code extends string>(
  code: Code,
  details?: Record<string, unknown>,
): Refusal<Code> {
  return details ? { refused: code, details } : { refused: code };
}

/** Whether a result is a refusal. */
export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'refused' in value;
}
