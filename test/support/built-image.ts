import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, needs } from '../../harness/programs.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { until } from './svc.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAMS = ['buildah', 'mmdebstrap', 'runc'];
/** What `RUN` and Node need. */
const PACKAGES = ['dash', 'coreutils', 'libstdc++6', 'libatomic1'];
const NPM_FOLDER = 'usr/local/lib/node_modules/npm';
/** Where the build finds npm's configuration and its cache, neither of which gets into the image. */
const NPM_CONFIG = '/usr/local/etc/npmrc';
const NPM_CACHE = '/npm-cache';
const NPM_CERTIFICATES = '/npm-certificates.crt';

type Ending = { teardown(end: () => void | Promise<void>): unknown };

interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  Labels: Record<string, string>;
}

export type BuiltImage = Awaited<ReturnType<typeof buildImage>>;

/** Runs a program to its end and returns what it printed; an error has what it printed as well. */
async function run(program: string, args: string[]): Promise<string> {
  const options = { cwd: ROOT, maxBuffer: 2 ** 26 };
  return (await promisify(execFile)(findProgram(program) ?? program, args, options)).stdout.trim();
}

/**
 * Makes a base image of Debian's packages, and sees a program run in it; returns why it cannot be made here, as without
 * root or without a mirror.
 */
export async function prepareBase(t: Ending) {
  const { skip: obstacle } = needs(...PROGRAMS);
  if (obstacle) return { obstacle };
  if (process.getuid?.() !== 0) return { obstacle: 'an image is built as root here' };
  const { path: folder, remove } = temporaryFolder('image');
  t.teardown(remove);
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const buildah = (...args: string[]) =>
    run('buildah', ['--storage-driver', 'vfs', ...storage, ...args]);
  try {
    const packages = join(folder, 'base.tar');
    const include = `--include=${PACKAGES.join()}`;
    await run('mmdebstrap', ['--quiet', '--variant=extract', include, 'bookworm', packages]);
    const container = await buildah('from', 'scratch');
    await buildah('add', '--quiet', container, packages, '/');
    const root = await buildah('mount', container);
    const node = process.env.NODE_24 ?? process.execPath;
    cpSync(realpathSync(node), join(root, 'usr/local/bin/node'));
    const npm = dirname(dirname(realpathSync(findProgram('npm') ?? '')));
    cpSync(npm, join(root, NPM_FOLDER), { recursive: true });
    symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
    await buildah('commit', '--quiet', container, 'base');
    const base = { folder, buildah, root };
    const runs = start(t, base, ['node', '--version'], { user: '65532:65532', workingDir: '/' });
    const { code, output } = await runs.ended;
    if (code !== 0) throw new Error(output);
    return { base };
  } catch (error) {
    return { obstacle: `no image can be built and run here: ${(error as Error).message}` };
  }
}

type Base = NonNullable<Awaited<ReturnType<typeof prepareBase>>['base']>;

/** The volumes with which npm in the build has the configuration and the cache of npm on this machine. */
async function npmVolumes(folder: string): Promise<string[]> {
  const { globalconfig, userconfig, registry, cache, cafile } = JSON.parse(
    await run('npm', ['config', 'list', '--json']),
  );
  const files = [globalconfig, userconfig].filter((file) => existsSync(file));
  const lines = files.map((file) => readFileSync(file, 'utf8'));
  lines.push(`registry=${registry}`, `cache=${NPM_CACHE}`, 'prefer-offline=true');
  mkdirSync(cache, { recursive: true });
  const volumes = [`${cache}:${NPM_CACHE}`];
  if (cafile) {
    lines.push(`cafile=${NPM_CERTIFICATES}`);
    volumes.push(`${realpathSync(cafile)}:${NPM_CERTIFICATES}:ro`);
  }
  const file = join(folder, 'npmrc');
  writeFileSync(file, lines.join('\n'), { mode: 0o600 });
  return [...volumes, `${file}:${NPM_CONFIG}:ro`];
}

/** Builds the image of deploy/Containerfile on the base, and mounts its root file system. */
export async function buildImage({ folder, buildah, root: baseRoot }: Base) {
  const volumes = (await npmVolumes(folder)).map((volume) => `--volume=${volume}`);
  const isolated = ['--isolation', 'chroot', '--quiet', '--build-arg', 'BASE=localhost/base'];
  const file = ['--file', join(ROOT, 'deploy/Containerfile'), '--tag', 'service'];
  await buildah('bud', ...isolated, ...volumes, ...file, ROOT);
  const root = await buildah('mount', await buildah('from', 'service'));
  const config: ImageConfig = JSON.parse(await buildah('inspect', '--type', 'image', 'service'))
    .OCIv1.config;
  const bytesOf = async (path: string) =>
    Number.parseInt(await run('du', ['--bytes', '--summarize', path]), 10);
  const addedBytes = (await bytesOf(root)) - (await bytesOf(baseRoot));

  /** Removes all programs but Node, so that what runs afterwards needs neither a shell nor npm. */
  function leaveOnlyNode(): void {
    for (const path of ['bin', 'sbin', 'usr/bin', 'usr/sbin', NPM_FOLDER, 'usr/local/bin/npm'])
      rmSync(join(root, path), { recursive: true, force: true });
  }

  /**
   * Starts a process of the image as deploy/compose.yaml does: read-only, without capabilities, with secrets as files. It
   * has the network of this machine.
   */
  function process(
    t: Ending,
    command: string[],
    settings: Record<string, string>,
    secrets: Record<string, string>,
  ) {
    const { User: user, WorkingDir: workingDir, Env: env, Entrypoint } = config;
    const given = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    const args = [...Entrypoint, ...command];
    return start(t, { folder, root }, args, { user, workingDir, secrets, env: [...env, ...given] });
  }

  return { root, config, addedBytes, leaveOnlyNode, process };
}

interface ProcessOptions {
  user: string;
  workingDir: string;
  env?: string[];
  secrets?: Record<string, string>;
}

let started = 0;

/** Starts a process on a root file system with runc. */
function start(
  t: Ending,
  { folder, root }: { folder: string; root: string },
  args: string[],
  { user, workingDir, env = ['PATH=/usr/local/bin'], secrets = {} }: ProcessOptions,
) {
  const name = `image-test-${globalThis.process.pid}-${started++}`;
  const bundle = join(folder, name);
  const secretsFolder = join(bundle, 'secrets');
  mkdirSync(secretsFolder, { recursive: true });
  for (const [secret, value] of Object.entries(secrets))
    writeFileSync(join(secretsFolder, secret), `${value}\n`);
  mkdirSync(join(root, 'run/secrets'), { recursive: true });
  const [uid, gid] = user.split(':').map(Number);
  const config = {
    ociVersion: '1.0.2',
    process: { user: { uid, gid }, args, env, cwd: workingDir, noNewPrivileges: true },
    root: { path: root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...[
        ['/etc/hosts', '/etc/hosts'],
        ['/run/secrets', secretsFolder],
      ].map(([destination, source]) => ({
        ...{ destination, source },
        ...{ type: 'bind', options: ['bind', 'ro'] },
      })),
    ],
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })) },
  };
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(config));
  const runc = ['--root', join(folder, 'runc')];
  const child = spawn(findProgram('runc') ?? 'runc', [...runc, 'run', '--bundle', bundle, name], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => {
      output += part;
    });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }));
  t.teardown(async () => {
    if (child.exitCode === null) await run('runc', [...runc, 'kill', name, 'KILL']);
    await ended;
  });

  /** Runs another program in the running process's container, as an orchestrator asks for health. */
  const exec = (...command: string[]) =>
    run('runc', [...runc, 'exec', name, ...command]).then(
      () => 0,
      ({ code }) => Number(code),
    );

  /** Waits until the program says so with status 0; fails if the process ends before. */
  const untilExec = (...command: string[]) =>
    until(async () => {
      if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended: ${output}`);
      return (await exec(...command)) === 0;
    });

  /** Ends the process with SIGTERM. */
  function stop() {
    child.kill('SIGTERM');
    return ended;
  }

  return { ended, exec, untilExec, stop };
}
