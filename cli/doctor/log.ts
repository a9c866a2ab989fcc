import { logServers } from '../../platform/eventstore/log-epochs.ts';
import { type Sql, sql } from '../../platform/sql.ts';
import { describeLoss, lostWords } from '../../projections/moderation/lost-words.ts';
import { moderatorLosses } from '../../projections/moderation/moderators.ts';
import { lastProof } from '../../services/proving/last-proof.ts';
import { newestTree, unsealedAfter } from '../../services/seal/tree-store.ts';
import { bad, type Context, engineOf, type Finding, ok, orOk, warn } from './check.ts';

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

const EXPLAINED = 'what can be done is in docs/operating/lost-words.md';

/** Checks that no deletion of an account erased what belongs to the service, a moderator or a guest. */
export async function checkWords({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const lost = await ask(lostWords());
  const moderators = await ask(moderatorLosses());
  return orOk(
    [
      ...lost.map((event) => warn(describeLoss(event), EXPLAINED)),
      ...moderators.flatMap(({ moderator_id: id, no_token, receipts }) => [
        no_token &&
          warn(`The active moderator ${id} has no token`, `npm run moderator -- rotate ${id}`),
        receipts > 0 && warn(`${receipts} receipts of the moderator ${id} are empty`, EXPLAINED),
      ]),
    ],
    'The log has the words of every policy, moderator and comment',
  );
}
