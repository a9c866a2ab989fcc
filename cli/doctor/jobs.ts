import { deadLetters } from '../../platform/jobs/dead-letters.ts';
import { receiversOf } from '../../services/notices/messages.ts';
import { receiverStates } from '../../services/notices/receiver-state.ts';
import { type Context, type Finding, ok, warn } from './check.ts';

/** Checks that no job has used up its retries. */
export async function checkJobs({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const dead = await ask(deadLetters());
  const [oldest] = dead;
  if (!oldest) return [ok('No job has failed for the last time')];
  return [
    warn(
      `${dead.length} jobs have failed for the last time, the oldest, of the queue ${oldest.queue}, at ${oldest.failed_at.toISOString()}`,
      'npm run dead-letters -- list, and once the cause is mended, npm run dead-letters -- again',
    ),
  ];
}

const LONG_MS = 3_600_000;

/** Checks that no receiver of `NOTIFY_URLS` has failed for long. Names its host, never its address. */
export async function checkNotices({
  ask,
  config,
}: Pick<Context, 'ask' | 'config'>): Promise<Finding[]> {
  const receivers = receiversOf(config.notifyUrls);
  if (receivers.length === 0) return [ok('NOTIFY_URLS has no address to call')];
  const rows = await ask(receiverStates(receivers.map(({ key }) => key)));
  const findings = receivers.flatMap(({ key, name }, index) => {
    const row = rows.find(({ receiver }) => receiver === key);
    const since = row?.failed_since;
    if (!since || Date.now() - since.getTime() < LONG_MS) return [];
    return [
      warn(
        `Receiver ${name} has accepted nothing since ${since.toISOString()}; the last attempt ended with ${row.failure}`,
        `mend it, or give up what waits for it: npm run notices -- skip ${index + 1}`,
      ),
    ];
  });
  return findings.length > 0 ? findings : [ok(`${receivers.length} receivers are called`)];
}
