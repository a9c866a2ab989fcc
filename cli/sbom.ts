import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { processArguments } from '../platform/command-line/arguments.ts';

const ROOT = join(import.meta.dirname, '..');

interface Component {
  'bom-ref': string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
}

interface Bill {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { name: string; 'bom-ref': string } };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const { values } = processArguments(
  `Usage:
  npm run -s sbom [-- --licences]

Prints the bill of materials of a production installation as CycloneDX JSON: the packages of the lock file without those
for development and the optional ones, with hashes and licences. The same lock file gives the same text. --licences
prints a line for each package instead: its licence, name and version.
`,
  { licences: { type: 'boolean', default: false } },
);

const read = (name: string) => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

/** The references of what is installed with --omit=dev --omit=optional. */
function productionReferences(): Set<string> {
  const { packages } = read('package-lock.json');
  const paths = Object.keys(packages).filter((path) => {
    const { dev, optional, devOptional, link } = packages[path];
    return path.startsWith('node_modules/') && !(dev || optional || devOptional || link);
  });
  return new Set(
    paths.map((path) => `${path.split('node_modules/').at(-1)}@${packages[path].version}`),
  );
}

// With --omit=dev, npm 11.19 leaves out packages that a package for development needs too, such as Express.
const args = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'];
const bill: Bill = JSON.parse(
  execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 26 }),
);
const kept = productionReferences();
const { component } = bill.metadata;
component.name = read('package.json').name;
delete bill.serialNumber;
delete bill.metadata.timestamp;
bill.components = bill.components.filter((one) => kept.has(one['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref) || ref === component['bom-ref'])
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));

const licenceOf = ({ licenses = [] }: Component) =>
  licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression).join(', ');
process.stdout.write(
  values.licences
    ? bill.components.map((one) => `${licenceOf(one)}\t${one['bom-ref']}\n`).join('')
    : `${JSON.stringify(bill, undefined, 2)}\n`,
);
