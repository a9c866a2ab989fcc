import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../../harness/free-port.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { mailCorpus, NO_TOOLS } from '../../harness/tools.ts';
import { ALONE, checkCommand, runCommand } from '../support/npm-commands.ts';

// Benchmarks and proof mostly wait for the disk, which is slow on a busy machine.
t.setTimeout(900_000);

// Its texts come with test/tools, which .ci/run installs; elsewhere they may be missing.
const skip = mailCorpus() ? false : NO_TOOLS;
if (skip) console.error(`SKIPPED: npm run bench:screening; ${skip}`);

const { demo, ...OTHERS } = ALONE;

for (const [name, run] of Object.entries(OTHERS))
  t.test(`npm run ${name}`, name === 'bench:screening' ? { skip } : {}, (t) =>
    checkCommand(t, name, run),
  );

t.test('npm run demo, on PORT and in DATA_DIR, and not in a used folder', async (t) => {
  const folder = temporaryFolder('readme-demo');
  t.teardown(folder.remove);
  const env = { PORT: await freePort(), DATA_DIR: join(folder.path, 'data') };
  const { stdout } = await checkCommand(t, 'demo', demo, env);
  t.match(stdout, `the service runs on http://localhost:${env.PORT}\n`);
  const second = await runCommand('demo', ['--mails', '0'], env);
  t.match(second, {
    code: 1,
    stderr: `DATA_DIR ${env.DATA_DIR} already holds data. The demo needs an empty folder.\n`,
  });
});
