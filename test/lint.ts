// `npm run lint` and `npm run format`: Biome for both, and oxlint's rules about promises, which need types.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findTool, NO_TOOLS } from '../harness/tools.ts';

const ROOT = join(import.meta.dirname, '..');
const [biome, oxlint, tsgolint] = [
  findTool('@biomejs/biome/bin/biome'),
  findTool('oxlint/bin/oxlint'),
  findTool('.bin/tsgolint'),
];

function run(program: string, ...args: string[]): number {
  const env = { ...process.env, OXLINT_TSGOLINT_PATH: tsgolint };
  return (
    spawnSync(process.execPath, [program, ...args], { cwd: ROOT, stdio: 'inherit', env }).status ??
    1
  );
}

if (!biome || !oxlint || !tsgolint) {
  console.error(NO_TOOLS);
  process.exitCode = 1;
} else {
  const write = process.argv.slice(2);
  process.exitCode = run(biome, 'check', ...write);
  if (write.length === 0) process.exitCode ||= run(oxlint, '--type-aware');
}
