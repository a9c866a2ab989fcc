import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { INHERITED_ENV } from '../../harness/inherited-env.ts';
import { startInstance } from '../../harness/instance.ts';
import { needs } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { DOCUMENTS, ROOT, shellBlocks } from '../support/documents.ts';
import { repeatWhile } from '../support/repeat-while.ts';

t.setTimeout(600_000);

/** Commands that end with the terminal or take minutes; CI and other tests run them. */
const ELSEWHERE = /^npm ci && npm (start|test)\b.*$/gm;

/** What the commands may use besides Node, npm and the shell. */
const PROGRAMS = ['curl', 'jq', 'openssl', 'python3', 'git', 'docker'];

/** Its commands need the installed `svc`: test/client/guides.test.ts runs them. */
const WITH_CLIENT = 'docs/guides/shell.md';

/** What the tour in the README says of its answers, in its order: `curl -s` ends well after a refusal too. */
const TOUR = new RegExp(
  [
    /"status":\s*"registered"/,
    /"handle":\s*"ada_\w{6}"/,
    /"status":\s*"pending_review"/,
    /"text":\s*"Hello from the tour"/,
    /"status":\s*"decided",.*"state":\s*"approved"/,
    /"message":\s*"Hello from the tour"/,
  ]
    .map(({ source }) => source)
    .join('[^]*?'),
);

/** An answer with the status 503. */
const UNAVAILABLE = /"(?:storage_unavailable|outcome_unconfirmed|overloaded)"/;

/** Runs a page's commands in one shell, in order; the first failure ends it. */
async function runPage(commands: string, env: Record<string, string>) {
  const child = spawn('bash', ['-c', `set -eo pipefail\n${commands}`], {
    cwd: ROOT,
    env: { ...INHERITED_ENV, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

t.test('the commands of each document run as they stand, in order', async (t) => {
  const folder = temporaryFolder('document-commands');
  t.teardown(folder.remove);
  const instance = await startInstance({ dataDir: folder.path });
  t.teardown(instance.stop);
  const env = { DATA_DIR: folder.path, BASE_URL: instance.baseUrl };
  for (const [path, text] of DOCUMENTS) {
    if (path === WITH_CLIENT) continue;
    const commands = shellBlocks(text)
      .join('\n')
      .replaceAll('http://localhost:3000', instance.baseUrl)
      .replaceAll('/var/lib/', `${folder.path}/`)
      .replace(ELSEWHERE, '');
    if (commands.trim() === '') continue;
    const programs = PROGRAMS.filter((name) => new RegExp(`\\b${name} `).test(commands));
    await t.test(path, needs('bash', ...programs), async (t) => {
      // A busy machine may answer 503, and the tour does not repeat requests: it runs again, with a new member and note.
      const { code, output } = await repeatWhile(
        (page) => path === 'README.md' && UNAVAILABLE.test(page.output),
        () => runPage(commands, env),
      );
      t.equal(code, 0, output);
      if (path !== 'README.md') return;
      t.match(output, TOUR, 'the tour gets what it says');
      t.notMatch(output, /"error"/, 'nothing in the tour is refused');
    });
  }
});
