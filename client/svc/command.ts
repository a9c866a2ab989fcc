import type { ParseArgsConfig } from 'node:util';
import type { Context } from './context.ts';

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
