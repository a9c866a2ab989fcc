import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Locked {
  hasInstallScript?: true;
  resolved?: string;
  dev?: true;
  engines?: { node?: string };
}
type Lock = { packages: Record<string, Locked> };

for (const folder of ['', 'cli/node-24/', 'test/tools/'])
  t.test(`allows only the listed packages of ${folder}package.json to run install scripts`, (t) => {
    const { packages } = read(`${folder}package-lock.json`) as Lock;
    const paths = Object.keys(packages);
    t.same(
      paths.filter((path) => path.includes('node_modules/@scarf/')),
      [],
    );
    const names = (path: string) => path.split('node_modules/').at(-1) ?? '';
    // The path of the project itself is empty.
    const scripted = paths.filter((path) => path && packages[path]?.hasInstallScript).map(names);
    t.same(
      [...new Set(scripted)].sort(),
      Object.keys(read(`${folder}package.json`).allowScripts ?? {}).sort(),
    );
    t.end();
  });

t.test('installs for the tests neither a corpus of mails nor generators of CI', (t) => {
  const names = Object.keys((read('package-lock.json') as Lock).packages).map((path) =>
    path.split('node_modules/').at(-1),
  );
  for (const name of Object.keys(read('test/tools/package.json').dependencies))
    if (name !== 'typescript') t.notOk(names.includes(name), name);
  t.end();
});

t.test('keeps Node and deletes its C headers after an installation', (t) => {
  const { scripts, optionalDependencies } = read('package.json');
  const { path, remove } = temporaryFolder('node-headers');
  t.teardown(remove);
  const nodes = Object.keys(optionalDependencies)
    .filter((name) => name.startsWith('node-'))
    .map((name) => join(path, 'node_modules', name));
  for (const node of nodes)
    for (const part of ['bin', 'include']) mkdirSync(join(node, part), { recursive: true });
  execFileSync('sh', ['-c', scripts.postinstall], { cwd: path });
  t.equal(nodes.length, 4);
  for (const node of nodes) {
    t.ok(existsSync(join(node, 'bin')), node);
    t.notOk(existsSync(join(node, 'include')), node);
  }
  t.end();
});

t.test(
  'says for which packages of the service npm warns on the oldest Node, and needs none newer',
  (t) => {
    const { packages } = read('package-lock.json') as Lock;
    const oldest = Number(read('package.json').engines.node.replace('>=', ''));
    const needed = Object.entries(packages).flatMap(([path, { dev, engines }]) => {
      // Ranges of npm packages end with the newest major that they allow.
      const [, major, minor = 0] = />= ?(\d+)(?:\.(\d+))?[^|]*$/.exec(engines?.node ?? '') ?? [];
      const name = path.split('node_modules/').at(-1);
      return path && !dev && major ? [{ name, major: Number(major), minor: Number(minor) }] : [];
    });
    const newer = needed.filter(({ major }) => major > oldest);
    const [, listed = ''] =
      /On Node 20, npm warns that three packages of the service \((.*?)\) need Node 22\./.exec(
        readFileSync(join(ROOT, 'docs/contributing/setup.md'), 'utf8'),
      ) ?? [];
    t.equal(oldest, 20);
    t.same(newer.map(({ name }) => name).sort(), listed.split(', '));
    const tooNew = newer.filter(({ major, minor }) => major > 22 || minor > 18);
    t.same(tooNew, [], 'the code runs on Node 22.18');
    t.end();
  },
);

/** A checkout after `npm ci`, with programs in place of Node and npm; `node` is undefined without optional packages. */
function installedTree(t: { teardown(end: () => void): unknown }, node?: string, npm = 'exit 1') {
  const { path, remove } = temporaryFolder('node-24');
  t.teardown(remove);
  const bin = join(path, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(path, 'programs'));
  cpSync(join(ROOT, 'cli/node-24/install.sh'), join(path, 'cli/node-24/install.sh'));
  const program = (name: string, commands: string) => {
    const file = join(path, 'programs', name);
    writeFileSync(file, `#!/bin/sh\n${commands}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  if (node) symlinkSync(program('installed-node', node), join(bin, 'node'));
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', read('package.json').scripts.postinstall],
    {
      cwd: path,
      env: { PATH: process.env.PATH, npm_node_execpath: 'sh', npm_execpath: program('npm', npm) },
      encoding: 'utf8',
    },
  );
  return { status, output: stdout + stderr, node: join(bin, 'node') };
}

const LACKS_LIBRARY = 'echo "libatomic.so.1: cannot open shared object file" >&2; exit 127';
const INSTALLS = `[ "$1 $2 $3" = "ci --prefix cli/node-24" ] && mkdir -p cli/node-24/node_modules/.bin &&
  printf '#!/bin/sh\\necho v24.0.0\\n' > cli/node-24/node_modules/.bin/node && chmod +x cli/node-24/node_modules/.bin/node`;

t.test('puts Node 24 in the place of a Node that does not start on this machine', (t) => {
  const { status, output, node } = installedTree(t, LACKS_LIBRARY, INSTALLS);
  t.equal(status, 0, output);
  t.match(output, /Node 26 does not start here.*libatomic\.so\.1.*\nv24\.0\.0\n$/);
  t.equal(execFileSync(node, ['--version'], { encoding: 'utf8' }), 'v24.0.0\n');
  t.end();
});

t.test('names the missing library where Node 24 cannot be installed either', (t) => {
  const { status, output } = installedTree(t, LACKS_LIBRARY);
  t.equal(status, 1);
  t.match(output, /Install libatomic \(Debian, Ubuntu: libatomic1\), and run npm ci again/);
  t.end();
});

t.test('keeps a Node that starts, and adds none to a production installation', (t) => {
  const kept = installedTree(t, 'echo v26.0.0');
  t.equal(kept.status, 0, kept.output);
  t.match(readlinkSync(kept.node), /installed-node$/);
  const production = installedTree(t);
  t.equal(production.status, 0, production.output);
  t.notOk(existsSync(production.node));
  t.end();
});
