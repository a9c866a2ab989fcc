import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';

/** The only argument: a moderator's name or id. */
export function oneName(args: string[]): string {
  const { positionals } = parseArguments(args, {}, [1, 1]);
  const name = positionals[0]?.trim();
  if (!name) throw new ArgumentError('The name or id is empty.');
  return name;
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The time that an option of a command gives. Throws `ArgumentError` for one without a zone. */
export function zonedTime(option: string, text: string): Date {
  if (TIME.test(text) && Number.isFinite(Date.parse(text))) return new Date(text);
  throw new ArgumentError(`${option} needs a time with its zone, such as 2030-01-31T12:00:00Z.`);
}

const DATE = /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/;

/** A date, which means its beginning in UTC, or a time with its zone. */
export function dateOf(option: string, text: string | undefined): Date | null {
  if (text === undefined) return null;
  const at = new Date(text);
  if (!DATE.test(text) || Number.isNaN(at.getTime()))
    throw new ArgumentError(`${option} must be a date or an ISO 8601 time with its zone.`);
  return at;
}
