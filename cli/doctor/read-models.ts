import { lastProof } from '../../services/proving/last-proof.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const MAX_AGE_HOURS = 50;
const VERIFY = 'npm run verify -- --live';

/** Checks that the read models equalled the log when they were last compared, and that this was lately. */
export async function checkReadModels({
  ask,
  config,
}: Pick<Context, 'ask' | 'config'>): Promise<Finding[]> {
  const [last] = await ask(lastProof());
  const at = config.verifyAt;
  if (!last) {
    const text = 'The read models were never compared with the log while the service ran';
    return at ? [warn(`${text}, although VERIFY_AT is ${at}`, VERIFY)] : [ok(text)];
  }
  const checked = last.checked_at.toISOString();
  if (last.divergent > 0)
    return [
      bad(
        `${last.divergent} rows of ${last.tables.join(', ')} differed from the log at ${checked}`,
        VERIFY,
      ),
    ];
  const hours = (Date.now() - last.checked_at.getTime()) / 3_600_000;
  if (at && hours > MAX_AGE_HOURS)
    return [
      warn(
        `The read models were last compared with the log at ${checked}, although VERIFY_AT is ${at}`,
        VERIFY,
      ),
    ];
  return [ok(`Every read model equalled the log at ${checked}`)];
}
