import { parseArgs } from 'node:util';
import { allModerators, type ModeratorRow } from '../projections/moderators.ts';
import { openCore } from './app.ts';
import { configOrExit } from './config.ts';
import { isRefusal } from './eventstore/decider.ts';
import { addModerator, revokeModerator } from './moderation/moderators.ts';
import { ROLES } from './moderation/roles.ts';
import { query } from './postgres.ts';
import { rescreen } from './screening/rescreen.ts';

const USAGE = `Usage:
  npm run moderator -- add NAME --role ${ROLES.join('|')}
  npm run moderator -- list
  npm run moderator -- revoke NAME|ID
  npm run moderator -- rescreen
`;

function leave(message: string): never {
  process.stderr.write(message);
  process.exit(1);
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { role: { type: 'string' } } });
  } catch {
    return leave(USAGE);
  }
}

const { positionals, values } = readArguments();
const [action, ...rest] = positionals;
const subject = rest[0]?.trim();
const role = ROLES.find((known) => known === values.role);
const fits =
  (action === 'add' && rest.length === 1 && subject && role) ||
  ((action === 'list' || action === 'rescreen') && rest.length === 0) ||
  (action === 'revoke' && rest.length === 1 && subject);
if (!fits) leave(USAGE);
// A name goes to a terminal and into JSON: it has no control characters.
if (subject && (/\p{C}/u.test(subject) || [...subject].length > 80))
  leave('A name has at most 80 printable characters.\n');

const core = await openCore(configOrExit(), 'service moderator');
try {
  if (action === 'add' && subject && role) {
    const added = await addModerator(core, subject, role);
    if (isRefusal(added)) leave(`There is an active moderator named ${subject}.\n`);
    process.stdout.write(
      `Added ${subject} (${role}, ${added.id}). The token is shown this once:\n${added.token}\n`,
    );
  } else if (action === 'revoke' && subject) {
    const revoked = await revokeModerator(core, subject);
    if (isRefusal(revoked)) leave(`There is no active moderator ${subject}.\n`);
    process.stdout.write(`Revoked ${revoked.id}\n`);
  } else if (action === 'rescreen') {
    process.stdout.write(`Enqueued ${await rescreen(core.store)} notes to be screened again\n`);
  } else {
    for (const row of await query<ModeratorRow>(core.pool, allModerators()))
      process.stdout.write(`${row.moderator_id}\t${row.role}\t${row.state}\t${row.name ?? '-'}\n`);
  }
} finally {
  await core.close();
}
