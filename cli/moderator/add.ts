import { ROLES } from '../../domain/moderation/roles.ts';
import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { addModerator } from '../../services/moderation/staff/moderators.ts';
import { withStorage } from './storage.ts';

/** Adds a moderator; the last line of the output is the token. */
export async function run(args: string[]): Promise<void> {
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
