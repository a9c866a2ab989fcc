import { execFile } from 'node:child_process';
import { copyFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { temporaryFolder } from '../../../harness/temporary-folder.ts';
import type { Service } from '../../support/service.ts';
import { LATER_EVENT, startLaterRelease } from './later-release.ts';

const root = join(import.meta.dirname, '../../..');

/** A program and its arguments, run in the folder of the project. */
export type Command = readonly [string, ...string[]];

interface Project {
  /** The folder beside this file that holds the generator's settings and the program. */
  folder: string;
  /** The path of the document that the generator reads; saved as `openapi.json`. */
  document: '/openapi.json' | '/openapi-3.0.json';
  /** Commands that generate the client and compile it together with the program. */
  build: readonly Command[];
  /** The program. Its argument is the address of the service; it prints a report as JSON. */
  program: Command;
}

/** What each program reports: one result of every request that it makes. */
const REPORT = {
  handle: /^generated_[0-9a-f]{8}$/,
  scopes: ['case:create', 'updates:read'],
  title: 'Generated',
  events: ['member.registered', 'credential.created', 'case.opened'],
  error: 'not_found',
};

/**
 * The timeout of a file: compilers take 20 seconds of a processor, and others may keep the processors
 * busy.
 */
export const COMPILER_TIMEOUT_MS = 500_000;

/**
 * Imports each module of the Python package `client`: Python evaluates annotations and defaults of a
 * module when it imports the module.
 */
export const IMPORT_ALL = `
import client, importlib, pkgutil
for module in pkgutil.walk_packages(client.__path__, 'client.'):
    importlib.import_module(module.name)
`;

async function run([program, ...args]: Command, cwd: string): Promise<string> {
  // The shell removes the options that the test runner gives to every Node program.
  const command = ['-c', 'NODE_OPTIONS= exec "$0" "$@"', program, ...args];
  try {
    const options = { cwd, timeout: COMPILER_TIMEOUT_MS, maxBuffer: 2 ** 26 };
    return (await promisify(execFile)('sh', command, options)).stdout;
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string };
    throw new Error(`${message}\n${stdout}`);
  }
}

/**
 * Generates a client from the document that a running service serves, compiles a small program with
 * the client, and runs the program against the service, and then against a later release of it, in a
 * temporary folder. The program registers a member, makes a credential, opens a case, reads it and
 * the updates, and asks for an unknown case.
 */
export async function testGeneratedClient(
  t: Test,
  { baseUrl }: Service,
  project: Project,
): Promise<void> {
  const { path, remove } = temporaryFolder(`generated-${project.folder}`);
  t.teardown(remove);
  const source = join(import.meta.dirname, project.folder);
  for (const file of await readdir(source)) await copyFile(join(source, file), join(path, file));
  await writeFile(join(path, 'package.json'), '{ "type": "module" }\n');
  await symlink(join(root, 'node_modules'), join(path, 'node_modules'));
  const document = await fetch(`${baseUrl}${project.document}`);
  t.equal(document.status, 200, `${project.document} is served`);
  await writeFile(join(path, 'openapi.json'), await document.text());

  for (const command of project.build) await run(command, path);
  const [program, ...args] = project.program;
  const report = async (address: string): Promise<unknown> =>
    JSON.parse(await run([program, ...args, address], path));
  t.match(await report(baseUrl), REPORT, 'the program reports what it asked for');
  t.match(
    await report(await startLaterRelease(t, baseUrl)),
    { ...REPORT, events: [...REPORT.events, LATER_EVENT] },
    'it reads the answers of a later release',
  );
}
