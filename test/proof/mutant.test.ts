import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FAULTS, fault } from '../../platform/fault.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('{platform,services,projections}/**/*.ts', { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8'),
);

for (const name of FAULTS)
  t.test(`the fault ${name} has its place in the service, and is off`, async (t) => {
    t.ok(sources.some((source) => source.includes(`fault('${name}')`)));
    t.notOk(fault(name));
  });
