import { parseArgs } from 'node:util';
import { isRefusal } from '../../eventstore/decider.ts';
import { addModerator } from '../../moderation/moderators.ts';
import { ROLES } from '../../moderation/roles.ts';
import { withStorage } from './storage.ts';
import { leave } from './terminal.ts';

/** The last line of the output is the token. */
export async function run(args: string[]): Promise<void> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { role: { type: 'string' } },
  });
  const name = positionals[0]?.trim() ?? '';
  const role = ROLES.find((known) => known === values.role);
  if (positionals.length !== 1 || !role)
    leave(`Usage: npm run moderator -- add NAME --role ${ROLES.join('|')}\n`);
  // A name goes to terminals and into JSON: it has no control characters.
  if (name === '' || /\p{C}/u.test(name) || [...name].length > 80)
    leave('A name has 1 to 80 printable characters.\n');
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
