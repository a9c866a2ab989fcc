import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { type Config, ConfigError, readConfig } from '../platform/config.ts';
import { databaseUrl } from '../platform/embedded/postgres.ts';
import { checkAddress } from './doctor/address.ts';
import { checkBackup } from './doctor/backup.ts';
import { checkClock } from './doctor/clock.ts';
import { checkConfiguration, configFaults } from './doctor/configuration.ts';
import { type Context, connectTo } from './doctor/connection.ts';
import { checkDatabase } from './doctor/database.ts';
import { checkDisk } from './doctor/disk.ts';
import { bad, type Finding, formatFinding } from './doctor/finding.ts';
import { checkJobs } from './doctor/jobs.ts';
import { checkKeys } from './doctor/keys.ts';
import { checkLog } from './doctor/log.ts';
import { checkMigrations } from './doctor/migrations.ts';
import { checkNotices } from './doctor/notices.ts';
import { checkPooler } from './doctor/pooler.ts';
import { checkProtection } from './doctor/protection.ts';
import { checkReplica } from './doctor/replica.ts';
import { checkRoles } from './doctor/roles.ts';
import { checkSettings } from './doctor/settings.ts';
import { checkStandbys } from './doctor/standbys.ts';
import { checkTables } from './doctor/tables.ts';
import { checkWords } from './doctor/words.ts';

const USAGE = `Usage:
  npm run doctor [-- FOLDER]

Checks what the service relies on, and changes nothing: configuration, public address, disk, database,
clock, settings, pooler, standbys, replica, schema, role, protection of the log, upkeep of the tables, jobs, receivers of notices, log, its words, server keys and backups. Each line begins with ok, warn or
bad, and ends with the command that mends what was found. FOLDER holds the backups; without it, the server
has to archive its WAL.

Exit status:
  0  everything is ok
  1  there are warnings
  2  something is bad or cannot be checked
`;

const UNDEFINED_TABLE = '42P01';
const EXIT = { ok: 0, warn: 1, bad: 2 } as const;

/** The checks of the database, in the order of their lines. */
const CHECKS: Readonly<Record<string, (context: Context) => Promise<Finding[]>>> = {
  database: checkDatabase,
  clock: checkClock,
  settings: checkSettings,
  pooler: checkPooler,
  standbys: checkStandbys,
  replica: checkReplica,
  migrations: checkMigrations,
  roles: checkRoles,
  protection: checkProtection,
  tables: checkTables,
  jobs: checkJobs,
  notices: checkNotices,
  log: checkLog,
  words: checkWords,
  keys: checkKeys,
  backup: checkBackup,
};

const {
  positionals: [backups],
} = processArguments(USAGE, {}, [0, 1]);

process.exitCode = EXIT.ok;
const config = readSettings();
if (config) {
  await report('configuration', () => checkConfiguration(config));
  await report('address', () => checkAddress(config));
  await report('disk', () => checkDisk(config));
  await checkDatabaseOf(config);
}

function readSettings(): Config | undefined {
  try {
    return readConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print('configuration', configFaults(error));
    return undefined;
  }
}

async function checkDatabaseOf(settings: Config): Promise<void> {
  const url = findUrl(settings);
  if (!url) return;
  const directUrl = settings.databaseDirectUrl ?? url;
  try {
    await connectTo(url, async (client, ask) => {
      const context = { config: settings, url, directUrl, client, ask, backups };
      for (const [name, check] of Object.entries(CHECKS)) await report(name, () => check(context));
    });
  } catch (error) {
    const text = `Cannot connect (${failureLine(error).trim()})`;
    print('database', [bad(text, 'start PostgreSQL, or export DATABASE_URL=…')]);
  }
}

function findUrl(settings: Config): string | undefined {
  try {
    return databaseUrl(settings);
  } catch (error) {
    print('database', [{ level: 'bad', text: (error as Error).message }]);
    return undefined;
  }
}

/** Runs a check and prints its findings. */
async function report(name: string, check: () => Finding[] | Promise<Finding[]>): Promise<void> {
  try {
    print(name, await check());
  } catch (error) {
    print(name, [uncheckable(error)]);
  }
}

function print(name: string, findings: readonly Finding[]): void {
  for (const finding of findings) {
    process.exitCode = Math.max(Number(process.exitCode), EXIT[finding.level]);
    process.stdout.write(formatFinding(name, finding));
  }
}

function uncheckable(error: unknown): Finding {
  const text = `Cannot be checked (${failureLine(error).trim()})`;
  return (error as { code?: unknown }).code === UNDEFINED_TABLE
    ? { level: 'bad', text, command: 'npm run release' }
    : { level: 'bad', text };
}
