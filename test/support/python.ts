import { spawnSync } from 'node:child_process';

const { status } = spawnSync('python3', ['--version']);

/** Options for `t.test(name, NEEDS_PYTHON, …)`: reports the test as skipped without Python's standard library. */
export const NEEDS_PYTHON = status === 0 ? {} : { skip: 'no python3 on PATH' };
