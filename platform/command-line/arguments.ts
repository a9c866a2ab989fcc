import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The arguments of a command are invalid. The message is one sentence. */
export class ArgumentError extends Error {
  override readonly name = 'ArgumentError';
}

const NO_OPTIONS = {} as const;

/**
 * Parses arguments strictly. `least` and `most` bound the number of positional arguments (none by
 * default). Throws `ArgumentError`.
 */
export function parseArguments<const Options extends ParseArgsOptionsConfig = typeof NO_OPTIONS>(
  args: string[],
  options?: Options,
  [least, most]: readonly [least: number, most: number] = [0, 0],
) {
  const parsed = parse(args, options ?? (NO_OPTIONS as unknown as Options));
  const { positionals } = parsed;
  if (positionals.length > most)
    throw new ArgumentError(`Unexpected argument '${positionals[most]}'.`);
  if (positionals.length < least) throw new ArgumentError('An argument is missing.');
  return parsed;
}

function parse<const Options extends ParseArgsOptionsConfig>(args: string[], options: Options) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (!code.startsWith('ERR_PARSE_ARGS')) throw error;
    // Node adds advice after the first sentence.
    throw new ArgumentError(`${message.replace(/\.(?:\n| To specify)[\s\S]*$/, '')}.`);
  }
}

/** As `readArguments`, for a command that ends when the reader of its output is gone. */
export const processArguments: typeof readArguments = (...given) => {
  exitOnClosedPipe();
  return readArguments(...given);
};

/**
 * Parses the arguments of this process. `--help` prints `usage` and exits with 0. If the arguments
 * are invalid or `check` throws `ArgumentError`, prints one sentence and `usage` to stderr and
 * exits with 2.
 */
export function readArguments<const Options extends ParseArgsOptionsConfig = typeof NO_OPTIONS>(
  usage: string,
  options?: Options,
  positionals?: readonly [least: number, most: number],
  check?: (parsed: ReturnType<typeof parseArguments<Options>>) => void,
): ReturnType<typeof parseArguments<Options>> {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) exitWithHelp(usage);
  try {
    const parsed = parseArguments(args, options, positionals);
    check?.(parsed);
    return parsed;
  } catch (error) {
    return exitWithUsage(error, usage);
  }
}

/** Ends this process with 1 and without a stack when the reader of its output, such as `head`, is gone. */
export function exitOnClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(1);
  });
}

/** Whether `--help` is among the options, that is, before any `--`. */
export function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end).includes('--help');
}

/** Prints the usage text and exits with 0. */
export function exitWithHelp(usage: string): never {
  process.stdout.write(usage);
  process.exit(0);
}

/** Prints an `ArgumentError` with the usage text and exits with 2; rethrows any other error. */
export function exitWithUsage(error: unknown, usage: string): never {
  if (!(error instanceof ArgumentError)) throw error;
  process.stderr.write(`${error.message}\n${usage}`);
  process.exit(2);
}
