import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t from 'tap';
import { newAgent } from '../../harness/agent.ts';
import { createCaseCommands, createOpenCase } from '../../harness/cases.ts';
import { installPackedClient } from '../support/packed-client.ts';
import { startService } from '../support/service.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');
const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');

const SCRIPT = `
import { createClient, newIdentity } from 'service-client';
import { createFileStore } from 'service-client/file-store';
const [baseUrl, folder] = process.argv.slice(2);
const store = createFileStore(folder);
const identity = store.identity(newIdentity('x').id.replace(/.*-/, 'agent_'));
const client = createClient({ baseUrl, identity, keeper: store.keeper, scopes: ['case:note', 'updates:read'] });
await client.register();
const titles = [];
for await (const { title } of client.cases.list({ limit: 1 })) titles.push(title);
const types = [];
for await (const { type } of client.updates({ untilNow: true })) types.push(type);
console.log(JSON.stringify({ titles, types }));
`;

const USES = `
import { createClient, newIdentity, type UpdateEvent } from 'service-client';
const client = createClient({ baseUrl: 'http://localhost:3000', identity: newIdentity('ada') });
export const read = async (): Promise<string[]> => {
  const titles: string[] = [];
  for await (const found of client.cases.list({ state: 'open' })) titles.push(found.title);
  return titles;
};
export function until(event: UpdateEvent): string | undefined {
  return event.type === 'case.claimed' ? event.data.lease_expires_at : undefined;
}
// @ts-expect-error: a state that is not in the contract
client.cases.list({ state: 'closed' });
// @ts-expect-error: without a version
client.cases.claim('id', {});
// @ts-expect-error: a field that is not in the contract
client.cases.get('id').then(({ case: found }) => found.colour);
`;

t.test('the packed client works in an empty project', async (t) => {
  const service = await startService(t);
  const author = createCaseCommands(await newAgent(service));
  for (const title of ['First', 'Second']) await createOpenCase(author, { title });
  const { path, names } = await installPackedClient(t);
  t.ok(
    names.every((name) => /^(dist\/|package\.json$|README\.md$)/.test(name)),
    'no sources',
  );
  writeFileSync(join(path, 'main.js'), SCRIPT);

  const nodes = { 26: process.execPath, 20: '', 22: '', 24: '' };
  for (const [major, usual] of Object.entries(nodes)) {
    const node = process.env[`NODE_${major}`] ?? usual;
    const skip = node ? false : `NODE_${major} is not set to the path of a Node ${major}`;
    await t.test(`on Node ${major}`, { skip }, async (t) => {
      const folder = join(path, `agent-${major}`);
      const { stdout } = await run(node, ['main.js', service.baseUrl, folder], { cwd: path });
      t.same(JSON.parse(stdout), {
        titles: ['Second', 'First'],
        types: ['member.registered', 'credential.created'],
      });
      const svc = join(path, 'node_modules/.bin/svc');
      const help = await run(node, [svc, 'case', 'claim', '--help'], { cwd: path });
      t.match(help.stdout, 'svc case claim');
    });
  }

  const runtimes = {
    DENO: ['run', '--no-prompt', '--allow-net', '--allow-read', '--allow-write', '--allow-env'],
    BUN: ['run'],
  };
  for (const [name, flags] of Object.entries(runtimes)) {
    const runtime = process.env[name];
    const skip = runtime ? false : `${name} is not set to the path of its program`;
    await t.test(`on ${name}`, { skip }, async (t) => {
      const folder = join(path, `agent-${name}`);
      const args = [...flags, 'main.js', service.baseUrl, folder];
      const env = { ...process.env, HOME: path, DENO_NO_UPDATE_CHECK: '1' };
      const { stdout } = await run(runtime ?? '', args, { cwd: path, env });
      t.same(JSON.parse(stdout), {
        titles: ['Second', 'First'],
        types: ['member.registered', 'credential.created'],
      });
    });
  }

  await t.test('with types that refuse what the contract does not have', async () => {
    writeFileSync(join(path, 'uses.ts'), USES);
    const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022'];
    const lib = ['--lib', 'es2023,dom,dom.iterable', '--types', '', '--skipLibCheck', 'false'];
    await run(process.execPath, [COMPILER, ...flags, ...lib, 'uses.ts'], { cwd: path });
  });

  await t.test('bundled for a browser, without anything of Node', async (t) => {
    const { outputFiles, warnings } = await build({
      stdin: {
        contents: "export { createClient } from 'service-client';",
        resolveDir: path,
      },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    t.same(warnings, []);
    const [{ text } = { text: '' }] = outputFiles;
    t.notMatch(text, /node:/);
    t.ok(text.length < 25_000, `${text.length} bytes`);
  });
  t.match(JSON.parse(readFileSync(join(ROOT, 'client/package.json'), 'utf8')), { private: true });
});
