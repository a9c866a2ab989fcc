import { logServers } from '../../platform/eventstore/log-epochs.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const RESTORED = 'npm run restored, or npm run restored -- --nothing-lost if the log is complete';

/** Checks that no restore or failover went unnoticed since the current epoch of the log began. */
export async function checkLog({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [servers] = await ask(logServers());
  if (!servers) throw new Error('the log has no epoch');
  const { noted, present } = servers;
  if (noted.system !== present.system)
    return [
      bad(
        'The log is on another server than that of its epoch, as after a restore, so that events may be missing',
        RESTORED,
      ),
    ];
  if (noted.timeline !== present.timeline)
    return [
      warn(
        `The server was promoted or restored since the epoch of the log began (timeline ${present.timeline}, not ${noted.timeline}), so that events may be missing`,
        RESTORED,
      ),
    ];
  return [ok('The log is on the server on which its epoch began')];
}
