import { ROLES } from '../../domain/permissions.ts';
import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, type Refusal } from '../../platform/refusal.ts';
import { allModerators } from '../../projections/moderation/moderators.ts';
import type { Core } from '../../services/compose.ts';
import {
  addModerator,
  revokeModerator,
  rotateModerator,
} from '../../services/moderation/staff/moderators.ts';
import { oneName } from './arguments.ts';
import { withStorage } from './storage.ts';
import { printable } from './terminal.ts';

export async function list(args: string[]): Promise<void> {
  parseArguments(args);
  await withStorage(async ({ pool }) => {
    for (const row of await query(pool, allModerators())) {
      const name = printable(row.name ?? '-');
      process.stdout.write(`${row.moderator_id}\t${row.role}\t${row.state}\t${name}\n`);
    }
  });
}

/** Adds a moderator; the last line of the output is the token. */
export async function add(args: string[]): Promise<void> {
  const { positionals, values } = parseArguments(args, { role: { type: 'string' } }, [1, 1]);
  const name = positionals[0]?.trim() ?? '';
  const role = ROLES.find((known) => known === values.role);
  if (!role) throw new ArgumentError(`--role must be one of ${ROLES.join(', ')}.`);
  // A name appears in terminals and in JSON, so it must not contain control characters.
  if (name === '' || /\p{C}/u.test(name) || [...name].length > 80)
    throw new ArgumentError('A name has 1 to 80 printable characters.');
  await withStorage(async (core) => {
    const added = await addModerator(core, name, role);
    if (isRefusal(added)) {
      process.stderr.write(`There is an active moderator named ${name}.\n`);
      process.exitCode = 1;
    } else
      process.stdout.write(
        `Added ${name} (${role}, ${added.id}). The token is shown this once:\n${added.token}\n`,
      );
  });
}

/** Gives a moderator a new token, which is the last line of the output. */
export const rotate = (args: string[]): Promise<void> =>
  change(
    args,
    rotateModerator,
    ({ id, token }) =>
      `Rotated ${id}. Its sessions have ended. The new token is shown this once:\n${token}\n`,
  );

export const revoke = (args: string[]): Promise<void> =>
  change(args, revokeModerator, ({ id }) => `Revoked ${id}\n`);

/** Changes the active moderator whom the arguments name, and prints what `describe` says of it. */
async function change<Changed>(
  args: string[],
  act: (core: Core, nameOrId: string) => Promise<Changed | Refusal<'not_found'>>,
  describe: (changed: Changed) => string,
): Promise<void> {
  const name = oneName(args);
  await withStorage(async (core) => {
    const changed = await act(core, name);
    if (isRefusal(changed)) {
      process.stderr.write(`There is no active moderator ${printable(name)}.\n`);
      process.exitCode = 1;
    } else process.stdout.write(describe(changed));
  });
}
