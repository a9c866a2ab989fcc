import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

// Builds the package into `dist/`: JavaScript and declarations. `npm pack` runs it.

const FOLDER = import.meta.dirname;
const COMPILER = join(FOLDER, '../node_modules/typescript/bin/tsc');

rmSync(join(FOLDER, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [COMPILER, '-p', FOLDER], { stdio: 'inherit' });
process.exitCode = status ?? 1;
