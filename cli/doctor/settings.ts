import { findSettingFaults } from '../../platform/postgres/database-settings.ts';
import { sql } from '../../platform/sql.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, orOk, warn } from './finding.ts';

interface Settings {
  fsync: string;
  full_page_writes: string;
  synchronous_commit: string;
  idle_session_timeout: string;
  role: string;
  database: string;
}

const SETTINGS = sql<Settings>`SELECT current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('idle_session_timeout') AS idle_session_timeout,
  quote_ident(current_user) AS role, quote_ident(current_database()) AS database`;

/** Checks the settings on which an acknowledged write relies, and those that a release requires. */
export async function checkSettings({ ask, client }: Context): Promise<Finding[]> {
  const faults = await findSettingFaults(client);
  const [settings] = await ask(SETTINGS);
  return orOk(
    [
      ...faults.map(({ fault, command }) => bad(fault, command)),
      ...(settings ? durabilityFindings(settings) : []),
    ],
    'Writes are durable, and a release accepts the settings',
  );
}

function durabilityFindings(settings: Settings): (Finding | false)[] {
  const { role, database, synchronous_commit: commit, idle_session_timeout: idle } = settings;
  const forRole = `ALTER ROLE ${role} IN DATABASE ${database} SET`;
  return [
    ...(['fsync', 'full_page_writes'] as const).map(
      (name) =>
        settings[name] === 'off' &&
        bad(
          `${name} is off, so that a crash of the machine can destroy the log`,
          `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`,
        ),
    ),
    commit === 'off' &&
      bad(
        'synchronous_commit is off, so that a crash loses acknowledged writes',
        `${forRole} synchronous_commit = on`,
      ),
    ['local', 'remote_write'].includes(commit) &&
      warn(
        `synchronous_commit is ${commit}, so that a failover can lose acknowledged writes`,
        `${forRole} synchronous_commit = on`,
      ),
    idle !== '0' &&
      warn(
        'idle_session_timeout is set; a commit that waits for a standby must not be ended',
        `${forRole} idle_session_timeout = 0`,
      ),
  ];
}
