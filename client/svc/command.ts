import { readFileSync } from 'node:fs';
import type { ParseArgsConfig } from 'node:util';
import { type Context, Failure, UsageError } from './context.ts';

type ParseOptions = NonNullable<ParseArgsConfig['options']>;

/** The values of a command line. */
export interface Given {
  /** Positional arguments, as many as `args` names. */
  args: readonly string[];
  text(name: string): string | undefined;
  list(name: string): readonly string[];
  flag(name: string): boolean;
  /** What follows `--`. */
  rest: readonly string[];
}

export interface Command {
  /** Names of positional arguments; one in brackets may be left out. */
  args?: readonly string[];
  options?: ParseOptions;
  /** Whether `-- COMMAND` may follow. */
  takesCommand?: boolean;
  summary: string;
  /** A line that works as it is, but for ids. */
  example: string;
  /** Returns the exit code of a command that `svc` ran; otherwise the command is done. */
  run(context: Context, given: Given): Promise<unknown>;
}

export type Commands = Readonly<Record<string, Command>>;

/** The value of an option that must be there. */
export function textOf(given: Given, name: string): string {
  const text = given.text(name);
  if (text === undefined) throw new UsageError(`--${name} is missing.`);
  return text;
}

export function wholeNumber(
  given: Given,
  name: string,
  min: number,
  max: number,
  usual: number,
): number {
  const text = given.text(name);
  const number = text === undefined ? usual : Number(text);
  if (!Number.isInteger(number) || number < min || number > max)
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`);
  return number;
}

/** The first items of a list, over as many pages as that takes. */
export async function pageOf<Item>(
  list: AsyncIterable<Item>,
  limit: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) {
    items.push(item);
    if (items.length === limit) break;
  }
  return items;
}

/** The text of a file, or of the standard input for `-`. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new Failure(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}
