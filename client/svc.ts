#!/usr/bin/env node
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { ProblemError } from './send.ts';
import { CASE_COMMANDS } from './svc/case-commands.ts';
import { type Command, type Commands, type Given, wholeNumber } from './svc/command.ts';
import { completion } from './svc/completion.ts';
import { createContext, EXIT, exitCodeOf, hasNoAnswer, UsageError } from './svc/context.ts';
import { commandHelp, generalHelp } from './svc/help.ts';
import { MCP_COMMANDS } from './svc/mcp.ts';
import { MEMBER_COMMANDS } from './svc/member-commands.ts';
import { plainJson, plainText } from './svc/terminal.ts';

const DEFAULT_ADDRESS = 'http://localhost:3000';

const COMMANDS: Commands = {
  ...MEMBER_COMMANDS,
  ...CASE_COMMANDS,
  ...MCP_COMMANDS,
  completion: {
    args: ['SHELL'],
    summary: 'Prints a script for the completion of bash or zsh.',
    example: 'source <(svc completion bash)',
    async run(_, { args: [shell] }) {
      process.stdout.write(completion(shell, COMMANDS, Object.keys(GENERAL)));
    },
  },
};

const GENERAL: NonNullable<ParseArgsConfig['options']> = {
  at: { type: 'string' },
  home: { type: 'string' },
  json: { type: 'boolean' },
  patience: { type: 'string' },
  'attempt-timeout': { type: 'string' },
  help: { type: 'boolean' },
};

const MINUTE = 60_000;
const IS_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Finds the command of a command line: its first two words, or the first one. */
function findCommand([first = '', second = '', ...more]: string[]) {
  for (const [name, rest] of [
    [`${first} ${second}`, more],
    [first, second === '' ? more : [second, ...more]],
  ] as const) {
    const command = COMMANDS[name];
    if (command && Object.hasOwn(COMMANDS, name)) return { name, command, rest };
  }
  return undefined;
}

function parse(command: Command, words: readonly string[]) {
  const end = command.takesCommand ? words.indexOf('--') : -1;
  const own = end < 0 ? words : words.slice(0, end);
  const rest = end < 0 ? [] : words.slice(end + 1);
  let parsed: ReturnType<typeof parseArgs>;
  try {
    const options = { ...GENERAL, ...command.options };
    parsed = parseArgs({ args: [...own], options, allowPositionals: true });
  } catch (error) {
    // Node adds advice after the first sentence.
    const message = (error as Error).message.replace(/\.?(?:\n| To specify)[\s\S]*$/, '');
    throw new UsageError(`${message.replace(/\.$/, '')}.`);
  }
  const { values, positionals: args } = parsed;
  const text = (name: string) => values[name] as string | undefined;
  const given: Given = {
    args,
    text,
    list: (name) => (values[name] as string[] | undefined) ?? [],
    flag: (name) => values[name] === true,
    rest,
  };
  return { given, text };
}

function checkArguments({ args: names = [] }: Command, { args }: Given): void {
  const missing = names.find((name, place) => !name.startsWith('[') && args[place] === undefined);
  if (missing) throw new UsageError(`${missing} is missing.`);
  const id = args[names.indexOf('ID')];
  if (id !== undefined && !IS_ID.test(id))
    throw new UsageError('ID must be an id, such as 6f1c2a7e-0b1d-4f4e-9a53-2d8f6f0c1b11.');
  if (args.length > names.length)
    throw new UsageError(`Unexpected argument '${args.at(names.length)}'.`);
}

/** The refusal of the service, or what `svc` itself has to say, in the same form. */
function toProblem(error: unknown): object {
  if (error instanceof ProblemError && error.code !== 'unknown') return error.body;
  const code = hasNoAnswer(error) ? 'no_answer' : error instanceof UsageError ? 'usage' : 'failed';
  return { status: code, error: { code, message: (error as Error).message } };
}

async function main(words: string[]): Promise<number> {
  const [first] = words;
  const found = findCommand(words);
  if (!found) {
    if (first === undefined || first === 'help' || first === '--help') {
      process.stdout.write(generalHelp(COMMANDS));
      return EXIT.done;
    }
    throw new UsageError(`Unknown command '${words.slice(0, 2).join(' ')}'; see svc --help.`);
  }
  const { name, command, rest } = found;
  const { given, text } = parse(command, rest);
  if (given.flag('help')) {
    process.stdout.write(commandHelp(name, command));
    return EXIT.done;
  }
  checkArguments(command, given);
  const patience = Number(text('patience') ?? 15 * 60);
  if (!(patience >= 0)) throw new UsageError('--patience must be a number of seconds.');
  const attemptTimeout = wholeNumber(given, 'attempt-timeout', 1, 3600, 30);
  const at = text('at') ?? process.env.SVC_URL;
  if (name === 'register' && at === undefined)
    console.error(`Registering at ${DEFAULT_ADDRESS}; --at URL names another service.`);
  const context = createContext({
    home: text('home') ?? process.env.SVC_HOME ?? join(homedir(), '.svc'),
    at: at ?? DEFAULT_ADDRESS,
    json: given.flag('json'),
    patience: (patience * MINUTE) / 60,
    timeout: (attemptTimeout * MINUTE) / 60,
  });
  const exitCode = await command.run(context, given);
  return typeof exitCode === 'number' ? exitCode : EXIT.done;
}

const words = process.argv.slice(2);
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe may have enough, as `head` has.
  if (error.code !== 'EPIPE') console.error(plainText(error.message));
  process.exit(EXIT.failed);
});
try {
  process.exitCode = await main(words);
} catch (error) {
  process.exitCode = exitCodeOf(error);
  const end = words.indexOf('--');
  const json = (end < 0 ? words : words.slice(0, end)).includes('--json');
  console.error(json ? plainJson(toProblem(error)) : plainText((error as Error).message));
}
