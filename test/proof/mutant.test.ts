import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FAULTS, fault } from '../../platform/fault.ts';

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('{platform,domain,services,projections}/**/*.ts', { cwd: root }).map(
  (file) => readFileSync(join(root, file), 'utf8'),
);

for (const name of FAULTS)
  t.test(`has the fault ${name} in the service, switched off`, async (t) => {
    t.ok(sources.some((source) => source.includes(`fault('${name}')`)));
    t.notOk(fault(name));
  });
