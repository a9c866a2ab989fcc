import { ArgumentError } from '../../platform/command-line/arguments.ts';

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The time that an option of a command gives. Throws `ArgumentError` for one without a zone. */
export function zonedTime(option: string, text: string): Date {
  if (TIME.test(text) && Number.isFinite(Date.parse(text))) return new Date(text);
  throw new ArgumentError(`${option} needs a time with its zone, such as 2030-01-31T12:00:00Z.`);
}
