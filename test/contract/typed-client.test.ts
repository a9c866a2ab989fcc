import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';
import { startService } from '../harness/service.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/typed-client');

function run(program: string, args: string[]) {
  // Through a shell, because the test runner puts its own options before every program it sees.
  const bare = ['-c', 'NODE_OPTIONS= exec "$0" "$@"', process.execPath, program, ...args];
  const { status, stdout, stderr } = spawnSync('sh', bare, {
    encoding: 'utf8',
    timeout: 120_000,
  });
  return { status, said: stdout + stderr };
}

t.test('a client generated from the document compiles, and works', async (t) => {
  const generated = run(join(folder, 'node_modules/openapi-typescript/bin/cli.js'), [
    join(root, 'test/contract/openapi.golden.json'),
    '--output',
    join(folder, 'api.d.ts'),
  ]);
  t.equal(generated.status, 0, generated.said);
  const compiled = run(join(root, 'node_modules/typescript/bin/tsc'), ['-p', folder]);
  t.equal(compiled.status, 0, compiled.said);

  const service = await startService(t);
  const { walk } = await import(join(folder, 'smoke.ts'));
  const met = await walk(service.baseUrl);
  t.equal(met.first, '/api/guestbook');
  t.match(met.handle, /^typed_/);
  t.same(met.scopes, ['case:create', 'updates:read']);
  t.equal(met.title, 'Typed');
  t.same(met.events, ['member.registered', 'credential.created', 'case.opened']);
  t.equal(met.refusal, 'credential_required');
});
