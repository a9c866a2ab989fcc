import type pg from 'pg';
import { plannerSettings } from './connection.ts';
import { readEngine } from './engine.ts';

/** A setting on which the service cannot rely, and the SQL that mends it. */
export interface SettingFault {
  fault: string;
  command: string;
  /** Acknowledged writes are lost only in a failover, or after another fault. */
  isMinor?: boolean;
}

interface Settings {
  encoding: string;
  dates: string;
  isolation: string;
  /** The schema in which statements make tables. */
  schema: string | null;
  /** The schema that has the tables of the service while `public` does not. */
  elsewhere: string | null;
  arrayNulls: string;
  conformingStrings: string;
  quoteAll: string;
  readOnly: string;
  role: string;
  database: string;
}

/**
 * Throws if the server's settings would reject texts or writes, format times so that the driver misreads
 * them, or turn every race into an error. Called during a release, so that the release fails, not
 * requests.
 */
export async function requireSettings(client: pg.ClientBase): Promise<void> {
  const faults = await findSettingFaults(client);
  if (faults.length > 0)
    throw new Error(
      `The database is not set up for the service:\n${faults
        .map(({ fault, command }) => `  ${fault}: ${command}`)
        .join('\n')}`,
    );
}

/** Finds what `requireSettings` refuses. */
export async function findSettingFaults(client: pg.ClientBase): Promise<SettingFault[]> {
  const { rows } = await client.query<Settings>(`SELECT
    current_setting('server_encoding') AS encoding, current_setting('DateStyle') AS dates,
    current_setting('default_transaction_isolation') AS isolation,
    current_setting('array_nulls') AS "arrayNulls",
    current_setting('standard_conforming_strings') AS "conformingStrings",
    current_setting('quote_all_identifiers') AS "quoteAll",
    current_setting('default_transaction_read_only') AS "readOnly",
    current_schema() AS schema,
    (SELECT string_agg(quote_ident(nspname), ', ') FROM pg_class
      JOIN pg_namespace n ON n.oid = relnamespace
      WHERE relname = 'log_epochs' AND relkind IN ('r', 'p') AND nspname <> 'public'
        AND to_regclass('public.log_epochs') IS NULL) AS elsewhere,
    quote_ident(current_user) AS role, quote_ident(current_database()) AS database`);
  return rows.flatMap(faultsOf);
}

interface DurabilitySettings {
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  idle_session_timeout: string;
  role: string;
  database: string;
}

/** Finds settings with which acknowledged writes can be lost. A release only warns of them. */
export async function findDurabilityFaults(client: pg.ClientBase): Promise<SettingFault[]> {
  const { rows } = await client.query<DurabilitySettings>(`SELECT
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_commit') AS synchronous_commit,
    current_setting('idle_session_timeout') AS idle_session_timeout,
    quote_ident(current_user) AS role, quote_ident(current_database()) AS database`);
  return rows.flatMap(durabilityFaultsOf);
}

/** Sets the planner settings for the current role in this database. */
export async function setPlannerSettings(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ role: string }>('SELECT current_user AS role');
  for (const { role } of rows)
    for (const statement of await plannerSettingsLacking(client, role))
      await client.query(statement);
}

/**
 * The statements that set the planner settings for a role in this database, so that every connection
 * has them, also behind a pooler. A setting that the role has already stays. Timeouts are not among
 * them: they would also end the maintenance of pg-boss, which connects as the same role.
 */
export async function plannerSettingsLacking(
  client: pg.ClientBase,
  role: string,
): Promise<string[]> {
  const settings = plannerSettings(await readEngine(client));
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER ROLE %I IN DATABASE %I SET %I = %L', $1::text, current_database(), name,
       value) AS statement
     FROM unnest($2::text[], $3::text[]) wanted (name, value)
     WHERE NOT EXISTS (SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole,
         unnest(s.setconfig) setting
       WHERE r.rolname = $1
         AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
         AND setting LIKE name || '=%')`,
    [role, Object.keys(settings), Object.values(settings)],
  );
  return rows.map(({ statement }) => statement);
}

function faultsOf(settings: Settings): SettingFault[] {
  const { encoding, dates, isolation, schema, elsewhere, role, database } = settings;
  const set = `ALTER ROLE ${role} IN DATABASE ${database} SET`;
  const faults = [
    encoding !== 'UTF8' && {
      fault: `The encoding of the database is ${encoding}`,
      command: `CREATE DATABASE another ENCODING 'UTF8' TEMPLATE template0`,
    },
    !dates.startsWith('ISO') && {
      fault: `DateStyle is ${dates}`,
      command: `${set} DateStyle = 'ISO'`,
    },
    isolation !== 'read committed' && {
      fault: `default_transaction_isolation is ${isolation}`,
      command: `${set} default_transaction_isolation = 'read committed'`,
    },
    settings.arrayNulls === 'off' && {
      fault: 'array_nulls is off, so that NULL in an array is read as a word',
      command: `${set} array_nulls = on`,
    },
    settings.conformingStrings === 'off' && {
      fault: 'standard_conforming_strings is off',
      command: `${set} standard_conforming_strings = on`,
    },
    // Migrations, partitions and rebuilds find indexes and tables by the words in which the server describes them.
    settings.quoteAll === 'on' && {
      fault:
        'quote_all_identifiers is on, so that the server spells names of tables in another way',
      command: `${set} quote_all_identifiers = off`,
    },
    settings.readOnly === 'on' && {
      fault: 'default_transaction_read_only is on, so that nothing can be written',
      command: `${set} default_transaction_read_only = off`,
    },
    // Commands and privileges name the schema public. An empty second set of tables would hide the data.
    elsewhere && {
      fault: `The tables of the service are in the schema ${elsewhere}, not in public`,
      command: `DROP SCHEMA public; ALTER SCHEMA ${elsewhere} RENAME TO public`,
    },
    schema !== 'public' && {
      fault: `search_path leads to the schema ${schema ?? '(none)'}, not to public`,
      command: `${set} search_path = public`,
    },
  ];
  return faults.filter((fault) => typeof fault === 'object' && fault !== null);
}

function durabilityFaultsOf(settings: DurabilitySettings): SettingFault[] {
  const { role, database, synchronous_commit: commit, idle_session_timeout: idle } = settings;
  const set = `ALTER ROLE ${role} IN DATABASE ${database} SET`;
  const faults = [
    ...(['fsync', 'full_page_writes'] as const).map(
      (name) =>
        settings[name] === 'off' && {
          fault: `${name} is off, so that a crash of the machine can destroy the log`,
          command: `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`,
        },
    ),
    commit === 'off' && {
      fault: 'synchronous_commit is off, so that a crash loses acknowledged writes',
      command: `${set} synchronous_commit = on`,
    },
    ['local', 'remote_write'].includes(commit) && {
      fault: `synchronous_commit is ${commit}, so that a failover can lose acknowledged writes`,
      command: `${set} synchronous_commit = on`,
      isMinor: true,
    },
    idle !== '0' && {
      fault: 'idle_session_timeout is set; a commit that waits for a standby must not be ended',
      command: `${set} idle_session_timeout = 0`,
      isMinor: true,
    },
  ];
  return faults.filter((fault) => fault !== false);
}
