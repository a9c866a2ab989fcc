import { cpSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createApi } from '../../harness/api.ts';
import { submitAs } from '../../harness/moderation.ts';
import { signedIn } from '../../harness/registration.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { COPIED } from '../support/production-tree.ts';
import { startTree } from '../support/started-tree.ts';

t.setTimeout(300_000);

const ROOT = join(import.meta.dirname, '../..');
const SCREENED_MS = 120_000;

/** What is removed, each with a path that it alone serves. */
const REMOVED = {
  profiles: '/api/v1/agents',
  activity: '/api/v1/activity',
  transparency: '/api/transparency',
};

/** The lists that have a line for each capability. */
const LISTS = ['services/features.ts', 'workers/jobs.ts'];

/** Removes the folders of a capability, and what the lists import from them. */
function removeCapability(tree: string, name: string): void {
  for (const layer of ['domain', 'projections', 'services', 'workers'])
    rmSync(join(tree, layer, name), { recursive: true, force: true });
  for (const list of LISTS) {
    const file = join(tree, list);
    const lines = readFileSync(file, 'utf8').split('\n');
    const imports = lines.filter((line) => line.includes(` from './${name}/`));
    const names = imports.map((line) => /\{ (\w+) \}/.exec(line)?.[1]);
    const listed = lines.filter((line) => names.includes(/^ {2}(?:\.{3})?(\w+),$/.exec(line)?.[1]));
    t.equal(listed.length, imports.length, `${list} has one line for ${name}`);
    const kept = lines.filter((line) => !imports.includes(line) && !listed.includes(line));
    writeFileSync(file, kept.join('\n'));
  }
}

t.test('the service works without the folders and lines of three capabilities', async (t) => {
  const { path: tree, remove } = temporaryFolder('without');
  t.teardown(remove);
  for (const name of COPIED) cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  for (const name of Object.keys(REMOVED)) removeCapability(tree, name);
  t.notOk(existsSync(join(tree, 'domain/profiles')));

  const { pool, base, output } = await startTree(t, tree);
  const api = createApi(base);
  const { body: discovery } = await api.call('GET', '/api/v1/discovery');
  for (const [name, path] of Object.entries(REMOVED)) {
    t.equal((await api.call('GET', path)).status, 404, name);
    t.notOk(JSON.stringify(discovery).includes(`"${path}"`), `discovery does not offer ${path}`);
  }
  const member = await signedIn(api);
  await submitAs(api, member, { message: 'Written without profiles' });
  const screened = async () =>
    (await pool.query("SELECT FROM events WHERE type = 'NoteScreened'")).rowCount === 1;
  for (const end = Date.now() + SCREENED_MS; !(await screened()); await sleep(100))
    if (Date.now() > end) throw new Error(`the note was not screened:\n${output()}`);
  for (const path of ['/', '/cases', '/api/guestbook'])
    t.equal((await api.call('GET', path)).status, 200, path);
  t.equal((await api.call('GET', '/members')).status, 404, 'a page without its capability');
});
