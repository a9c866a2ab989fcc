import { execFile } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { needs } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { guideProgram } from '../support/guide-program.ts';
import { installPackedClient } from '../support/packed-client.ts';
import { refusingService } from '../support/refusing-service.ts';
import { startService } from '../support/service.ts';

// test/client/python.test.ts runs the guide for Python.

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Starts the service, and gives the environment that the guides read. */
async function start(t: Test) {
  const service = await startService(t);
  const { path, remove } = temporaryFolder('guide');
  t.teardown(remove);
  const countMembers = async () => {
    const { rows } = await service.database.pool.query('SELECT count(*)::int FROM members');
    return rows[0].count as number;
  };
  return { env: { ...process.env, SERVICE: service.baseUrl, FOLDER: path }, path, countMembers };
}

t.test('the packed client', async (t) => {
  const { path: project } = await installPackedClient(t);

  await t.test('runs the program of the guide for TypeScript as it is, and again', async (t) => {
    const { env, path, countMembers } = await start(t);
    writeFileSync(join(project, 'agent.ts'), guideProgram('typescript.md', 'ts', 4));
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    await run(process.execPath, [COMPILER, ...flags, ...types, 'agent.ts'], { cwd: project });
    for (const turn of ['first', 'second']) {
      const { stdout } = await run(process.execPath, ['agent.ts'], { cwd: project, env });
      for (const line of [
        /^registered author_\w{8} worker_\w{8}$/m,
        /^opened \S+ open$/m,
        /^submitted submitted$/m,
        /^reviewed accepted$/m,
        /^read 1 review$/m,
      ])
        t.match(stdout, line, turn);
    }
    t.equal(await countMembers(), 2, 'the second run registers no one');
    const SERVICE = await refusingService(t);
    const refused = run(process.execPath, ['agent.ts'], {
      cwd: project,
      env: { ...env, SERVICE, FOLDER: join(path, 'refused') },
    });
    const { stderr } = await refused.catch((error: { stderr: string }) => error);
    t.match(stderr, /^POST \S+: 429 rate_limited: Too many\.\n$/, 'one line, without a stack');
    t.equal(statSync(join(path, 'author/identity.json')).mode & 0o777, 0o600);
  });

  await t.test('runs the script with svc of the guide for shells as it is, twice', async (t) => {
    const { env, countMembers } = await start(t);
    const commands = [
      join(project, 'node_modules/.bin'),
      dirname(process.execPath),
      process.env.PATH,
    ];
    const script = guideProgram('shell.md', 'sh', 5);
    for (const turn of ['first', 'second']) {
      const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', script], {
        env: { ...env, PATH: commands.join(':') },
      });
      for (const line of [
        /^opened \S+ /m,
        /case\.submitted/,
        /accepted/,
        / pending Hello from the shell$/m,
        /^done with svc$/m,
      ])
        t.match(stdout, line, turn);
    }
    t.equal(await countMembers(), 2, 'the second run registers no one');
  });
});

t.test(
  'runs the script with curl of the guide for shells as it is',
  needs('curl', 'jq'),
  async (t) => {
    const { env } = await start(t);
    const script = guideProgram('shell.md', 'sh curl', 2);
    const { stdout } = await run('bash', ['-o', 'pipefail', '-c', script], { env });
    t.match(
      stdout,
      /^opened \S+\nclaimed\nsubmitted\ncase\.opened\ncase\.claimed\ncase\.submitted\naccepted\ndone with curl\n$/,
    );
  },
);
