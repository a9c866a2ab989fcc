import { sql } from '../../platform/sql.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

interface Standbys {
  names: string;
  visible: boolean;
  role: string;
  connected: number;
}

/** A standby that waits for its turn (`potential`) takes the place of one that is lost. */
const STANDBYS = sql<Standbys>`SELECT current_setting('synchronous_standby_names') AS names,
  pg_has_role('pg_read_all_stats', 'USAGE') AS visible, quote_ident(current_user) AS role,
  (SELECT count(*) FROM pg_stat_replication
    WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum', 'potential')) AS connected`;

/** Checks that synchronous standbys, if there are any, are connected, and that one may be lost. */
export async function checkStandbys({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [found] = await ask(STANDBYS);
  if (!found?.names) return [ok('No synchronous standby is named')];
  const { names, visible, role, connected } = found;
  if (!visible)
    return [bad('Standbys cannot be checked by this role', `GRANT pg_monitor TO ${role}`)];
  const needed = countNeeded(names);
  if (connected < needed)
    return [
      bad(
        `Writes wait: ${connected} of ${needed} synchronous standbys are connected; start ${names}, or go on without`,
        "ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()",
      ),
    ];
  if (connected === needed)
    return [
      warn(
        'The loss of one synchronous standby stops writes; start another and name it as well',
        "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (a, b)'; SELECT pg_reload_conf()",
      ),
    ];
  return [ok(`${connected} synchronous standbys are connected, and commits wait for ${needed}`)];
}

/** The number of standbys for which a commit waits: of `FIRST 2 (a, b)`, `2 (a, b)` or `a, b`. */
const countNeeded = (names: string): number =>
  Number(/^\s*(?:(?:FIRST|ANY)\s+)?(\d+)\s*\(/i.exec(names)?.[1] ?? 1);
