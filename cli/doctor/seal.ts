import { type Sql, sql } from '../../platform/sql.ts';
import { newestTree, unsealedAfter } from '../../services/seal/tree-store.ts';
import { type Context, engineOf } from './connection.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const MAX_WAIT_SECONDS = 600;

/** Whether erasures erase salts: the state of the trigger, `O` or `A` if it fires. */
const saltTrigger = (): Sql<{ enabled: string }> =>
  sql`SELECT tgenabled AS enabled FROM pg_trigger
    WHERE tgrelid = 'public.events'::regclass AND tgname = 'events_erase_salt'`;

/** Checks that the log is sealed, if it ever was: that nothing is refused, and nothing waits for long. */
export async function checkSeal({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const [tree] = await ask(newestTree());
  if (!tree) return [ok('The log is not sealed: that takes SEAL_KEY, on workers')];
  const [trigger] = await ask(saltTrigger());
  const { distributed } = await engineOf(ask);
  // On a cluster, the statements that erase words erase the salts.
  if (!distributed && !'OA'.includes(trigger?.enabled ?? '-'))
    return [
      bad(
        'The trigger events_erase_salt is missing or off, so erasures leave the salts of words',
        'ALTER TABLE events ENABLE TRIGGER events_erase_salt, then npm run verify -- --seal',
      ),
    ];
  const { origin, size, refusal, signed_at: at, missing_witnesses: missing } = tree;
  const [unsealed] = await ask(unsealedAfter(tree.position));
  if (refusal)
    return [bad(`Checkpoints of ${origin} are refused: ${refusal}`, 'npm run verify -- --seal')];
  if ((unsealed?.seconds ?? 0) > MAX_WAIT_SECONDS)
    return [
      warn(
        `Events have waited to be sealed for more than ten minutes; the last checkpoint was signed at ${at.toISOString()}`,
        'start a worker with SEAL_KEY, and see its log',
      ),
    ];
  if (missing)
    return [
      warn(
        `Witnesses have not co-signed the checkpoint of ${origin}: ${missing}`,
        'docs/verification/sealed-log.md#witnesses',
      ),
    ];
  return [ok(`${size} events are sealed in ${origin}`)];
}
