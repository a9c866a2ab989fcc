import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { SERVICE_ACTOR } from '../platform/eventstore/event.ts';
import { handle } from '../platform/eventstore/handle.ts';
import { query } from '../platform/postgres/query.ts';
import { type UnusedMember, unusedMembers } from '../projections/membership/members.ts';
import type { Core } from '../services/compose.ts';
import { withStorage } from './moderator/storage.ts';

const USAGE = `Usage:
  npm run members -- unused [--days DAYS] [--remove COUNT]

unused prints the registrations of more than DAYS (30) days ago whose member never signed in. --remove
deletes these accounts as their members could, if their number is COUNT. Their handles stay taken.
`;

const { values } = processArguments(
  USAGE,
  { days: { type: 'string', default: '30' }, remove: { type: 'string' } },
  [1, 1],
  ({ positionals: [command], values: { days, remove } }) => {
    if (command !== 'unused') throw new ArgumentError(`Unknown command '${command}'.`);
    if (!/^[1-9]\d{0,3}$/.test(days))
      throw new ArgumentError('--days needs a number from 1 to 9999.');
    if (remove !== undefined && !/^\d+$/.test(remove))
      throw new ArgumentError('--remove needs a number.');
  },
);

try {
  await withStorage(
    (core) => (values.remove === undefined ? preview(core) : remove(core, Number(values.remove))),
    'service members',
  );
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

function find({ pool }: Core): Promise<UnusedMember[]> {
  return query(pool, unusedMembers(Number(values.days)));
}

/** Prints tab-separated lines, which both people and scripts can read. */
async function preview(core: Core): Promise<void> {
  const found = await find(core);
  for (const { member_id, handle, registered_at } of found)
    process.stdout.write(`${member_id}\t${handle}\t${registered_at.toISOString()}\n`);
  if (found.length > 0)
    process.stderr.write(
      `To delete these ${found.length} accounts: npm run members -- unused --days ${values.days} --remove ${found.length}\n`,
    );
}

async function remove(core: Core, confirmed: number): Promise<void> {
  const found = await find(core);
  if (found.length !== confirmed)
    throw new Error(
      `There are ${found.length} such registrations, not ${confirmed}: look at them again first`,
    );
  const [{ deleteUnused }, { accountClosures }] = await Promise.all([
    import('../services/account/delete.ts'),
    import('../services/features.ts'),
  ]);
  let deleted = 0;
  for (const { member_id } of found)
    if (await handle(core.store, SERVICE_ACTOR, deleteUnused(accountClosures, member_id)))
      deleted += 1;
  process.stdout.write(`Deleted ${deleted} accounts; the worker erases what is left of them\n`);
}
