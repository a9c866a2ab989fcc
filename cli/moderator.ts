import { ROLES } from '../domain/permissions.ts';
import {
  ArgumentError,
  asksForHelp,
  exitOnClosedPipe,
  exitWithHelp,
  exitWithUsage,
} from '../platform/command-line/arguments.ts';

/** A function of a file in `moderator/`; `name` is the command that was called. */
type Run = (args: string[], name: string) => Promise<void>;

const staff = () => import('./moderator/staff.ts');
const queue = () => import('./moderator/queue.ts');
const rewind = () => import('./moderator/rewind.ts');
const disabling = () => import('./moderator/disabling.ts');
const screening = () => import('./moderator/screening.ts');
const stats = () => import('./moderator/stats.ts');
const audit = () => import('./moderator/audit.ts');

/** Every command: its usage and its function, which is loaded only to run it. */
const COMMANDS: Readonly<Record<string, readonly [usage: string, load: () => Promise<Run>]>> = {
  add: [`add NAME --role ${ROLES.join('|')}`, async () => (await staff()).add],
  list: ['list', async () => (await staff()).list],
  rotate: ['rotate NAME|ID', async () => (await staff()).rotate],
  revoke: ['revoke NAME|ID', async () => (await staff()).revoke],
  queue: ['queue [--view VIEW] [--limit N]', async () => (await queue()).queue],
  next: ['next', async () => (await queue()).next],
  approve: ['approve NOTE_ID', async () => (await queue()).decide],
  reject: ['reject NOTE_ID --policy CODE [--message TEXT]', async () => (await queue()).decide],
  remove: ['remove NOTE_ID --policy CODE [--message TEXT]', async () => (await queue()).decide],
  restore: ['restore NOTE_ID', async () => (await queue()).decide],
  rewind: ['rewind NAME|ID --since TIME [--yes]', async () => (await rewind()).rewind],
  'undo-batch': ['undo-batch BATCH_ID', async () => (await rewind()).undoBatch],
  disable: [
    'disable HANDLE --policy CODE [--message TEXT] [--until TIME]',
    async () => (await disabling()).disable,
  ],
  enable: ['enable HANDLE', async () => (await disabling()).enable],
  appeals: ['appeals', async () => (await disabling()).appeals],
  rescreen: ['rescreen', async () => (await screening()).rescreenNotes],
  backtest: [
    'backtest [--rules FILE] [--from DATE] [--to DATE] [--json]',
    async () => (await screening()).printBacktest,
  ],
  stats: ['stats [--from DATE] [--to DATE]', async () => (await stats()).stats],
  audit: ['audit [--proofs]', async () => (await audit()).audit],
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
exitOnClosedPipe();
try {
  const run = await load();
  await run(args, name);
} catch (error) {
  exitWithUsage(error, commandUsage);
}
