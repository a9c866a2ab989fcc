import { processArguments } from '../platform/command-line/arguments.ts';

const {
  positionals: [backups],
} = processArguments(
  `Usage:
  npm run doctor [-- FOLDER]

Checks what the service relies on, and changes nothing: configuration, public address, disk, database,
clock, settings, pooler, standbys, replica, schema, role, protection of the log, upkeep of the tables, jobs, receivers of notices, log, its words, server keys and backups. Each line begins with ok, warn or
bad, and ends with the command that mends what was found. FOLDER holds the backups; without it, the server
has to archive its WAL.

Exit status:
  0  everything is ok
  1  there are warnings
  2  something is bad or cannot be checked
`,
  {},
  [0, 1],
);
const { diagnose } = await import('./doctor/diagnose.ts');
process.exitCode = await diagnose(process.env, backups, (line) => process.stdout.write(line));
