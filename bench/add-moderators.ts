import { join } from 'node:path';

// Adds moderators with the code of a checkout, and prints a token a line.
// Arguments: folder of the checkout, count.
const [root = '', count = ''] = process.argv.slice(2);
const load = (path: string) => import(join(root, path));
const { readConfig } = (await load('platform/config.ts')) as typeof import('../platform/config.ts');
const { createCore } = (await load(
  'services/compose.ts',
)) as typeof import('../services/compose.ts');
const { addModerator } = (await load(
  'services/moderation/staff/moderators.ts',
)) as typeof import('../services/moderation/staff/moderators.ts');

const core = await createCore(readConfig(process.env), 'bench');
for (let n = 1; n <= Number(count); n++) {
  const added = await addModerator(core, `Moderator ${n}`, 'moderator');
  if ('refused' in added) throw new Error(added.refused);
  process.stdout.write(`${added.token}\n`);
}
await core.close();
