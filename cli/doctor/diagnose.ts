import { failureLine } from '../../platform/command-line/failure.ts';
import { type Config, ConfigError, readConfig } from '../../platform/config.ts';
import { databaseUrl } from '../../platform/embedded/postgres.ts';
import { checkBackup } from './backup.ts';
import { bad, type Context, connectTo, type Finding, formatFinding } from './check.ts';
import { checkAddress, checkConfiguration, configFaults } from './configuration.ts';
import { checkJobs, checkNotices } from './jobs.ts';
import { checkKeys } from './keys.ts';
import { checkLog, checkReadModels, checkSeal, checkWords } from './log.ts';
import { checkMigrations } from './migrations.ts';
import { checkPooler } from './pooler.ts';
import { checkProtection, checkRoles } from './protection.ts';
import { checkCluster, checkReplica, checkStandbys } from './replication.ts';
import { checkSandbox } from './sandbox.ts';
import { checkClock, checkDatabase, checkDisk, checkSettings } from './server.ts';
import { checkTables } from './tables.ts';

const UNDEFINED_TABLE = '42P01';
const EXIT = { ok: 0, warn: 1, bad: 2 } as const;

/** The checks of the database, in the order of their lines. */
const CHECKS: Readonly<Record<string, (context: Context) => Promise<Finding[]>>> = {
  database: checkDatabase,
  cluster: checkCluster,
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
  seal: checkSeal,
  'read-models': checkReadModels,
  sandbox: checkSandbox,
  words: checkWords,
  keys: checkKeys,
  backup: checkBackup,
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Checks what the service relies on, in an environment and a folder of backups. Prints the lines of
 * each check, and returns the exit status.
 */
export async function diagnose(
  env: Environment,
  backups: string | undefined,
  write: (line: string) => void,
): Promise<number> {
  let status: number = EXIT.ok;
  const print = (name: string, findings: readonly Finding[]) => {
    for (const finding of findings) {
      status = Math.max(status, EXIT[finding.level]);
      write(formatFinding(name, finding));
    }
  };
  /** Runs a check and prints its findings. */
  const report = async (name: string, check: () => Finding[] | Promise<Finding[]>) => {
    try {
      print(name, await check());
    } catch (error) {
      print(name, [uncheckable(error)]);
    }
  };

  const config = readSettings(env, print);
  if (!config) return status;
  await report('configuration', () => checkConfiguration(config));
  await report('address', () => checkAddress(config));
  await report('disk', () => checkDisk(config));
  const url = findUrl(config, print);
  if (!url) return status;
  const directUrl = config.databaseDirectUrl ?? url;
  try {
    await connectTo(url, async (client, ask) => {
      const context = { env, config, url, directUrl, client, ask, backups };
      for (const [name, check] of Object.entries(CHECKS)) await report(name, () => check(context));
    });
  } catch (error) {
    const text = `Cannot connect (${failureLine(error).trim()})`;
    print('database', [bad(text, 'start PostgreSQL, or export DATABASE_URL=…')]);
  }
  return status;
}

type Print = (name: string, findings: readonly Finding[]) => void;

function readSettings(env: Environment, print: Print): Config | undefined {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print('configuration', configFaults(error));
    return undefined;
  }
}

function findUrl(config: Config, print: Print): string | undefined {
  try {
    return databaseUrl(config);
  } catch (error) {
    print('database', [{ level: 'bad', text: (error as Error).message }]);
    return undefined;
  }
}

function uncheckable(error: unknown): Finding {
  const text = `Cannot be checked (${failureLine(error).trim()})`;
  return (error as { code?: unknown }).code === UNDEFINED_TABLE
    ? { level: 'bad', text, command: 'npm run release' }
    : { level: 'bad', text };
}
