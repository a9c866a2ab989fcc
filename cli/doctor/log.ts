import { logServers } from '../../platform/eventstore/log-epochs.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok } from './finding.ts';

const RESTORED = 'npm run restored, or npm run restored -- --nothing-lost if the log is complete';

const PRIMARY = 'export DATABASE_URL with the address of the primary, or SELECT pg_promote()';

/** Checks that no restore or failover went unnoticed since the current epoch of the log began. */
export async function checkLog({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [servers] = await ask(logServers());
  if (!servers) throw new Error('the log has no epoch');
  const { noted, present } = servers;
  if (!present)
    return [bad('The database is a standby, which has no timeline of its own', PRIMARY)];
  if (noted.system !== present.system)
    return [
      bad(
        'The log is on another server than that of its epoch, as after a restore, so that events may be missing, and processes refuse writes',
        RESTORED,
      ),
    ];
  if (noted.timeline !== present.timeline)
    return [
      bad(
        `The server was promoted or restored since the epoch of the log began (timeline ${present.timeline}, not ${noted.timeline}), so that events may be missing, and processes that start refuse writes`,
        RESTORED,
      ),
    ];
  return [ok('The log is on the server on which its epoch began')];
}
