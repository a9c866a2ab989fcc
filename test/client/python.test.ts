import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { needs } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { guideProgram } from '../support/guide-program.ts';
import { refusingService } from '../support/refusing-service.ts';
import { startService } from '../support/service.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);

// Made by .ci/run: a Python in which the wheel of clients/python is installed.
const python = process.env.CLIENT_PYTHON;
if (!python) console.error('SKIPPED: the client in Python; CLIENT_PYTHON names none that has it');
const needsClient = { skip: python ? false : 'CLIENT_PYTHON is not set' };

t.test(
  'has models and a client with async that equal what generate.py writes',
  needs('python3'),
  async (t) => {
    const generator = join(ROOT, 'clients/python/generate.py');
    const ran = await run('python3', [generator, '--check']).catch(
      (error: { stderr: string }) => error,
    );
    t.equal('code' in ran ? ran.stderr : '', '');
  },
);

t.test('has types that hold for the oldest Python that it declares', needsClient, async (t) => {
  const config = join(ROOT, 'clients/python/pyproject.toml');
  const [, oldest = ''] = /requires-python = ">=([\d.]+)"/.exec(readFileSync(config, 'utf8')) ?? [];
  t.equal(oldest, '3.10');
  const args = ['--config-file', config, '--python-version', oldest, '-p', 'service_client'];
  const { path, remove } = temporaryFolder('mypy');
  t.teardown(remove);
  const checked = await run(python ?? '', ['-m', 'mypy', ...args], { cwd: path }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  if (/No module named mypy/.test(checked.stderr)) {
    t.comment('SKIPPED: there is no mypy beside the client');
    return;
  }
  t.match(checked.stdout, /^Success: no issues found in \d+ source files/);
});

t.test('names in the message what a refused request lacks', needsClient, async (t) => {
  const program = `
from service_client.errors import problem
date = {"date": "Sat, 28 Nov 2026 12:00:00 GMT"}
for error in (
    {"message": "No.", "scope": "case:create"},
    {"message": "No.", "issues": [{"path": "title", "message": "is required"}, None]},
    {"message": "No.", "issues": "none", "resets_at": "2026-11-28T12:00:59.500Z"},
    {},
):
    print(problem("GET /x", 429, date, {"status": "rate_limited", "error": error}))`;
  const { stdout } = await run(python ?? '', ['-c', program]);
  t.equal(
    stdout,
    [
      'GET /x: 429 rate_limited: No. Scope: case:create.',
      'GET /x: 429 rate_limited: No. title is required',
      'GET /x: 429 rate_limited: No. The limit ends in 60 s.',
      'GET /x: 429 rate_limited',
      '',
    ].join('\n'),
  );
});

t.test('runs the programs of the guide as they are, and again', needsClient, async (t) => {
  const service = await startService(t);
  const { path, remove } = temporaryFolder('guide');
  t.teardown(remove);
  const program = guideProgram('python.md', 'python', 6);
  const env = { ...process.env, SERVICE: service.baseUrl, FOLDER: path };
  for (const turn of ['first', 'second']) {
    const { stdout } = await run(python ?? '', ['-c', program], { env });
    for (const line of [
      /^registered author_\w{8} worker_\w{8}$/m,
      /^opened \S+ open$/m,
      /^submitted submitted$/m,
      /^reviewed accepted$/m,
      /^read accepted 1 review$/m,
      /^done$/m,
    ])
      t.match(stdout, line, turn);
  }
  const { rows } = await service.database.pool.query('SELECT count(*)::int FROM members');
  t.same(rows, [{ count: 2 }], 'the second run registers no one');
  const refusing = { ...env, SERVICE: await refusingService(t), FOLDER: join(path, 'refused') };
  const refused = run(python ?? '', ['-c', program], { env: refusing });
  const { stderr } = await refused.catch((error: { stderr: string }) => error);
  t.match(stderr, /^POST \S+: 429 rate_limited: Too many\.\n$/, 'one line, without a traceback');
  for (const name of ['identity.json', 'session.json'])
    t.equal(statSync(join(path, 'author', name)).mode & 0o777, 0o600, name);
});

const UNWRITABLE = `
import os, sys
from service_client import Client, FileStore

base_url, path = sys.argv[1:]
store = FileStore(path)
client = Client(base_url, store.identity("ada_unwritable"), store=store)
client.register()
# The file of the lock cannot be opened, as in a folder that is read-only.
os.mkdir(f"{path}/lock")
for turn in range(2):
    try:
        client.me()
    except OSError as error:
        print(type(error).__name__)
os.rmdir(f"{path}/lock")
print(client.me()["member"]["handle"], sorted(os.listdir(path)))
`;

t.test('raises each time that its folder cannot be written', needsClient, async (t) => {
  const service = await startService(t);
  const { path, remove } = temporaryFolder('unwritable');
  t.teardown(remove);
  const { stdout } = await run(python ?? '', ['-c', UNWRITABLE, service.baseUrl, path]);
  const files = "['identity.json', 'lock', 'session.json']";
  const lines = ['IsADirectoryError', 'IsADirectoryError', `ada_unwritable ${files}`];
  t.same(stdout.trim().split('\n'), lines);
});
