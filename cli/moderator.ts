import { ROLES } from '../domain/moderation/roles.ts';
import {
  ArgumentError,
  asksForHelp,
  exitWithHelp,
  exitWithUsage,
} from '../platform/command-line/arguments.ts';

/** The export of a file in `moderator/`; `name` is the command that was called. */
interface Command {
  run(args: string[], name: string): Promise<void>;
}

/** Every command: its usage and its module. */
const COMMANDS: Readonly<Record<string, readonly [usage: string, load: () => Promise<Command>]>> = {
  add: [`add NAME --role ${ROLES.join('|')}`, () => import('./moderator/add.ts')],
  list: ['list', () => import('./moderator/list.ts')],
  rotate: ['rotate NAME|ID', () => import('./moderator/rotate.ts')],
  revoke: ['revoke NAME|ID', () => import('./moderator/revoke.ts')],
  queue: ['queue [--view VIEW] [--limit N]', () => import('./moderator/queue.ts')],
  next: ['next', () => import('./moderator/next.ts')],
  approve: ['approve NOTE_ID', () => import('./moderator/decide.ts')],
  reject: ['reject NOTE_ID --policy CODE [--message TEXT]', () => import('./moderator/decide.ts')],
  remove: ['remove NOTE_ID --policy CODE [--message TEXT]', () => import('./moderator/decide.ts')],
  restore: ['restore NOTE_ID', () => import('./moderator/decide.ts')],
  rewind: ['rewind NAME|ID --since TIME [--yes]', () => import('./moderator/rewind.ts')],
  'undo-batch': ['undo-batch BATCH_ID', () => import('./moderator/undo-batch.ts')],
  disable: [
    'disable HANDLE --policy CODE [--message TEXT] [--until TIME]',
    () => import('./moderator/disable.ts'),
  ],
  enable: ['enable HANDLE', () => import('./moderator/enable.ts')],
  appeals: ['appeals', () => import('./moderator/appeals.ts')],
  rescreen: ['rescreen', () => import('./moderator/rescreen.ts')],
  backtest: [
    'backtest [--rules FILE] [--from DATE] [--to DATE] [--json]',
    () => import('./moderator/backtest.ts'),
  ],
  stats: ['stats [--from DATE] [--to DATE]', () => import('./moderator/stats.ts')],
  audit: ['audit [--proofs]', () => import('./moderator/audit.ts')],
};

const USAGE = `Usage:
${Object.values(COMMANDS)
  .map(([usage]) => `  npm run moderator -- ${usage}\n`)
  .join('')}
add, list, rotate, revoke, disable, enable, appeals, rescreen and backtest work on the database of this service. The others go
through HTTP to BASE_URL, with the token in MODERATOR_TOKEN or asked for.
`;

const [name = '', ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (!command && asksForHelp([name])) exitWithHelp(USAGE);
if (!command)
  exitWithUsage(
    new ArgumentError(name ? `Unknown command '${name}'.` : 'A command is missing.'),
    USAGE,
  );
const [usage, load] = command;
const commandUsage = `Usage: npm run moderator -- ${usage}\n`;
if (asksForHelp(args)) exitWithHelp(commandUsage);
// The reader of the output, such as `head`, has closed the pipe.
process.stdout.on('error', () => process.exit(1));
try {
  await (await load()).run(args, name);
} catch (error) {
  exitWithUsage(error, commandUsage);
}
