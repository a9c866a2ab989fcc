import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import t from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { newKey } from '../../harness/registration.ts';
import { testDatabase } from '../support/database.ts';
import { rebuildTables } from '../support/rebuild-command.ts';

const RELEASE = 'services/release.ts';
const REBUILD = 'cli/rebuild.ts';

/** A module that resolves every host name to two addresses, both without a listener. */
const TWO_ADDRESSES = `data:text/javascript,${encodeURIComponent(`
  import dns from 'node:dns';
  dns.lookup = (name, options, done) => done(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ]);
`)}`;

/** Runs a command and returns its exit status and output. */
async function run(url: string, args: string[]) {
  const env = { ...INHERITED_ENV, DATABASE_URL: url, SERVER_KEYS: `1:${newKey()}` };
  return promisify(execFile)(process.execPath, args, { env }).then(
    (said) => ({ code: 0, ...said }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

t.test('refuses unknown arguments to release and rebuild', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  for (const [file, name] of [
    [RELEASE, 'release [-- --grant]'],
    [REBUILD, 'rebuild'],
  ] as const) {
    const usage = new RegExp(`Usage:\n  npm run ${RegExp.escape(name)}\n`);
    t.match(await run(url, [file, '--help']), { code: 0, stdout: usage, stderr: '' });
    const refused = await run(url, [file, '--dry-run']);
    t.match(refused, { code: 2, stdout: '', stderr: usage });
    t.match(refused.stderr, /^Unknown option '--dry-run'\.\n/);
    t.match((await run(url, [file, 'now'])).stderr, /^Unexpected argument 'now'\.\n/);
  }
  t.equal((await pool.query(`SELECT FROM pg_tables WHERE schemaname = 'public'`)).rowCount, 0);
});

t.test('refuses a rebuild before the first release', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const stderr = 'The database is not set up for this release: npm run release does that\n';
  t.same(await run(url, [REBUILD]), { code: 1, stdout: '', stderr });
  t.same(await rebuildTables(pool), []);
  const schemas = await pool.query(`SELECT FROM pg_namespace WHERE nspname = 'rebuild'`);
  t.equal(schemas.rowCount, 0);
  const released = await run(url, [RELEASE]);
  t.match(released, { code: 0, stdout: /^Applied 0001-/ });
  t.match(await run(url, [REBUILD]), {
    code: 0,
    stdout: /^Rebuilt every read model from 0 events/,
  });
});

t.test('warns of settings with which acknowledged writes can be lost', async (t) => {
  const { url, pool } = await testDatabase(t, { empty: true });
  const name = new URL(url).pathname.slice(1);
  await pool.query(`ALTER DATABASE ${name} SET synchronous_commit = 'remote_write'`);
  const warned = await run(url, [RELEASE]);
  t.match(warned, {
    code: 0,
    stderr: /^Warning: synchronous_commit is remote_write, .*: (ALTER ROLE .* = on)$/m,
  });
  await pool.query(/: (ALTER ROLE .* synchronous_commit = on)$/m.exec(warned.stderr)?.[1] ?? '');
  t.notMatch((await run(url, [RELEASE])).stderr, 'synchronous_commit');
});

t.test('says that the address lacks the password that the server asks for', async (t) => {
  const { url } = await testDatabase(t, { empty: true });
  const without = Object.assign(new URL(url), { password: '' }).href;
  const stderr = 'The database server asks for a password, and its address has none\n';
  t.same(await run(without, [RELEASE]), { code: 1, stdout: '', stderr });
  const several = without.replace(/@[^/]*/, (host) => `${host},127.0.0.1:1`);
  const refused = await run(several, [RELEASE]);
  t.match(refused, { code: 1, stdout: '', stderr: /: The database server asks for a password, / });
});

t.test('reports a failed release in one line, once', async (t) => {
  const nobody = 'postgres://nobody@two.test:1/none';
  const refused = await run(nobody, [`--import=${TWO_ADDRESSES}`, RELEASE]);
  t.same(refused, { code: 1, stdout: '', stderr: 'ECONNREFUSED\n' });

  const { url, pool } = await testDatabase(t, { empty: true });
  await pool.query('CREATE TABLE events ()');
  const stderr = 'Migration 0001-schema failed: relation "events" already exists\n';
  t.same(await run(url, [RELEASE]), { code: 1, stdout: '', stderr });
});
