import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import t from 'tap';
import { CONFLICT_REASONS } from '../../domain/conflict.ts';
import { SCOPES } from '../../domain/permissions.ts';
import { catalogue, projections } from '../../services/features.ts';

const root = join(import.meta.dirname, '../..');
const FOLDERS = [
  'platform',
  'domain',
  'services',
  'projections',
  'workers',
  'cli',
  'client',
  'web',
  'harness',
  'bench',
  'proof',
  'demo',
  'test',
] as const;
const files = globSync(
  FOLDERS.map((folder) => `${folder}/**/*.{ts,tsx}`),
  { cwd: root, exclude: ['**/node_modules/**'] },
)
  .filter((file) => !file.endsWith('.d.ts'))
  .sort();
const text = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));

interface Import {
  file: string;
  /** Types alone: nothing is loaded at run time. */
  typeOnly: boolean;
}

const imports = new Map(
  files.map((file): [string, Import[]] => [
    file,
    [
      ...(text.get(file) ?? '').matchAll(
        /^(?:import|export)\b(?<type> type)?[^;]*?from '(?<path>\.[^']+)'/gm,
      ),
    ].map(({ groups }) => ({
      file: relative(root, join(root, dirname(file), groups?.path ?? '')),
      typeOnly: groups?.type !== undefined,
    })),
  ]),
);

/** Capabilities, each of which may import those before it. */
const CAPABILITIES = [
  'membership',
  'credentials',
  'passkeys',
  'publications',
  'profiles',
  'artifacts',
  'cases',
  'guestbook',
  'reports',
  'screening',
  'moderation',
  'imports',
  'disabling',
  'notices',
  'transparency',
  'seal',
  'proving',
  'updates',
  'account',
  'activity',
  'search',
  'discovery',
  'documents',
  'pages',
];

/** The folders of moderation, each of which may import those before it. */
const MODERATION = [
  'staff',
  'policies',
  'queue',
  'folds',
  'views',
  'claims',
  'decisions',
  'rewind',
  'comments',
  'stats',
  'stream',
  'audit',
];

/** The folders of the moderators' console, each of which may import those before it. */
const CONSOLE = [
  'words',
  'session',
  'in-progress',
  'queue',
  'claims',
  'decide',
  'live',
  'item',
  'search',
  'list',
  'figures',
  'policies',
  'audit',
  'frame',
];

const consoleFolder = (file: string): string | undefined =>
  /^web\/console\/([^/]+)\//.exec(file)?.[1];
/** A file beside the folders, the entry point, may import all of them. */
const consoleRank = (file: string): number => CONSOLE.indexOf(consoleFolder(file) ?? '');

const moderationRank = (file: string): number =>
  MODERATION.indexOf(/^services\/moderation\/([^/]+)\//.exec(file)?.[1] ?? '');

const capabilityOf = (file: string): string | undefined =>
  /^(?:domain|services|projections|workers)\/([^/]+)\//.exec(file)?.[1];
const rankOf = (file: string): number => CAPABILITIES.indexOf(capabilityOf(file) ?? '');
const isIn = (file: string, folder: string): boolean => file.startsWith(`${folder}/`);
/** Words that have no behaviour, such as the kinds of a record: a file that imports nothing. */
const isVocabulary = (file: string): boolean => imports.get(file)?.length === 0;

const ENTRY_POINTS = ['services/web.ts', 'services/release.ts', 'services/start.ts'];
const COMPOSITION = [
  ...ENTRY_POINTS,
  'services/app.ts',
  'services/compose.ts',
  'services/operate.ts',
  'services/features.ts',
];

/** Which folders a folder may import, beside itself. */
const MAY_IMPORT: Readonly<Record<(typeof FOLDERS)[number], readonly string[]>> = {
  platform: [],
  domain: ['platform'],
  projections: ['platform', 'domain'],
  services: ['platform', 'domain', 'projections'],
  workers: ['platform', 'domain', 'projections', 'services'],
  cli: ['platform', 'domain', 'projections', 'services'],
  client: [],
  web: ['platform', 'domain', 'services'],
  harness: ['platform', 'domain', 'projections', 'services', 'cli', 'client', 'workers'],
  bench: ['platform', 'domain', 'projections', 'services', 'workers', 'harness'],
  proof: ['platform', 'domain', 'projections', 'services', 'harness'],
  demo: ['platform', 'domain', 'services', 'harness'],
  test: [...FOLDERS],
};

/** Files that put together what their folder and those in it hold, and count as above all of these. */
const ASSEMBLIES = [
  ...COMPOSITION,
  'services/database-metrics.ts',
  'services/moderation/feature.ts',
  'services/moderation/routes.ts',
  'services/pages/feature.ts',
  'services/pages/handlers.ts',
  'workers/worker.ts',
  'platform/config.ts',
  'platform/log-settings.ts',
  'web/site/render.tsx',
  'client/svc.ts',
  'proof/proof.ts',
  'proof/run.ts',
  'proof/check.ts',
];

/** The lists with a line for each capability. */
const LISTS = ['services/features.ts', 'workers/jobs.ts'];

/** Capabilities that go with their folders and lines (test/process/without-capabilities.test.ts). */
const REMOVABLE = ['profiles', 'activity', 'transparency'];

/** The definitions of the platform that the domain is written with. */
const DEFINITIONS = [
  'platform/eventstore/event.ts',
  'platform/eventstore/decider.ts',
  'platform/refusal.ts',
  'platform/jobs/job-type.ts',
  'platform/eventstore/owner.ts',
  // The shapes of ids and times.
  'platform/http/schemas.ts',
];

/** Names of capabilities that the platform has in another sense. */
const GENERAL_WORDS: Readonly<Record<string, string>> = {
  account: 'an account of the operating system',
  case: 'a case of a rule',
  credential: 'what a bearer or a browser presents',
  notice: 'a sentence that precedes a document',
  report: 'to report a failure',
  search: 'the query of an address',
  update: 'of SQL',
};

/** Files of the platform that name a capability, each with its reason. */
const NAMES_CAPABILITIES: Readonly<Record<string, string>> = {
  'platform/config.ts': 'lists the settings of all capabilities',
  'platform/log-settings.ts': 'settings of the sealed log and of the proof',
  'platform/eventstore/erasure.ts':
    'erases the salts of the sealed log, whose table a trigger knows as well',
  'platform/fault.ts': 'names the faults that the proof injects',
  'platform/http/cors.ts': 'has the paths whose preflights are answered',
};

/** The rules beside the table: a name, and whether an import breaks it. */
const RULES: readonly [name: string, breaks: (from: string, to: Import) => boolean][] = [
  [
    'the edge and the event store do not know each other',
    (from, { file }) =>
      (isIn(from, 'platform/http') && isIn(file, 'platform/eventstore')) ||
      (isIn(from, 'platform/eventstore') && isIn(file, 'platform/http')),
  ],
  [
    'only the composition chooses how commands share transactions',
    (from, { file }) =>
      isIn(file, 'platform/throughput') &&
      !isIn(from, 'platform/throughput') &&
      !isIn(from, 'test') &&
      from !== 'services/compose.ts',
  ],
  [
    'a capability imports only those before it, except that a projection may read every event',
    (from, { file }) =>
      ['domain', 'projections', 'services'].some((folder) => isIn(from, folder)) &&
      !(isIn(from, 'projections') && isIn(file, 'domain')) &&
      rankOf(from) >= 0 &&
      rankOf(file) > rankOf(from),
  ],
  [
    'a folder of moderation imports only those before it',
    (from, { file }) => moderationRank(from) >= 0 && moderationRank(file) > moderationRank(from),
  ],
  [
    'a folder of the console imports only those before it',
    (from, { file }) =>
      isIn(from, 'web/console') &&
      consoleRank(from) >= 0 &&
      isIn(file, 'web/console') &&
      (consoleRank(file) < 0 || consoleRank(file) > consoleRank(from)),
  ],
  [
    "a capability imports no other one's handlers or feature",
    (from, { file }) =>
      isIn(from, 'services') &&
      rankOf(from) >= 0 &&
      capabilityOf(from) !== capabilityOf(file) &&
      /^services\/.+\/(handlers|feature)\.ts$/.test(file),
  ],
  [
    'only the lists load a capability that can be removed',
    (from, { file, typeOnly }) =>
      !['harness', 'bench', 'proof', 'demo', 'test'].some((folder) => isIn(from, folder)) &&
      REMOVABLE.includes(capabilityOf(file) ?? '') &&
      capabilityOf(from) !== capabilityOf(file) &&
      !typeOnly &&
      !LISTS.includes(from),
  ],
  [
    'the domain imports definitions of the platform, and no more of it',
    (from, { file }) =>
      isIn(from, 'domain') && isIn(file, 'platform') && !DEFINITIONS.includes(file),
  ],
  [
    'nothing imports an entry point, and only entry points import the composition',
    (from, { file }) =>
      !isIn(from, 'test') &&
      (ENTRY_POINTS.includes(file) ||
        (file === 'services/features.ts' && isIn(from, 'services') && !COMPOSITION.includes(from))),
  ],
  [
    'the pages load no code of the service, only its types and words',
    (from, { file, typeOnly }) =>
      isIn(from, 'web') && !isIn(file, 'web') && !typeOnly && !isVocabulary(file),
  ],
];

/** A circle in what `next` leads to from these names, if there is one. */
function findCircle(
  names: Iterable<string>,
  next: (name: string) => readonly string[],
): string[] | undefined {
  const finished = new Set<string>();
  const visit = (name: string, path: readonly string[]): string[] | undefined => {
    if (finished.has(name)) return undefined;
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    for (const to of next(name)) {
      const circle = visit(to, [...path, name]);
      if (circle) return circle;
    }
    finished.add(name);
    return undefined;
  };
  for (const name of names) {
    const circle = visit(name, []);
    if (circle) return circle;
  }
  return undefined;
}

t.test('imports name files that exist, and no files import each other in a circle', async (t) => {
  for (const file of files)
    for (const { file: imported } of imports.get(file) ?? [])
      if (/\.tsx?$/.test(imported) && !imported.endsWith('.d.ts'))
        t.ok(text.has(imported), `${file} imports ${imported}`);
  t.equal(
    findCircle(files, (file) => (imports.get(file) ?? []).map((one) => one.file)),
    undefined,
  );
});

t.test('no folders import each other in a circle, not even types', async (t) => {
  const folderOf = (file: string): string => (ASSEMBLIES.includes(file) ? file : dirname(file));
  const folders = Map.groupBy(
    files.filter((file) => !isIn(file, 'test')),
    folderOf,
  );
  const next = (folder: string) =>
    (folders.get(folder) ?? [])
      .flatMap((file) => imports.get(file) ?? [])
      .map(({ file }) => folderOf(file))
      .filter((to) => to !== folder);
  t.equal(findCircle(folders.keys(), next), undefined);
  for (const file of ASSEMBLIES) t.ok(folders.has(file), file);
});

t.test('folders import only the folders that the table allows', async (t) => {
  for (const [file, all] of imports)
    for (const { file: imported } of all) {
      const [from, to] = [file, imported].map((path) => path.split('/')[0] ?? '');
      if (!/\.tsx?$/.test(imported)) continue;
      const allowed = MAY_IMPORT[from as (typeof FOLDERS)[number]];
      t.ok(from === to || allowed.includes(to ?? ''), `${file} imports ${imported}`);
    }
});

for (const [rule, breaks] of RULES)
  t.test(rule, async (t) => {
    for (const [file, all] of imports)
      for (const imported of all)
        t.notOk(breaks(file, imported), `${file} imports ${imported.file}`);
  });

t.test(
  'the platform names no capability, scope, reason or event, with named exceptions',
  async (t) => {
    const singular = (name: string) => name.replace(/s$/, '');
    const capabilities = globSync('domain/*/', { cwd: root })
      .map((folder) => singular(basename(folder)))
      .filter((name) => !(name in GENERAL_WORDS));
    t.ok(capabilities.length > 10);
    const inNames = capabilities.flatMap((name) => [
      `(?<![A-Za-z])${name}`,
      name.replace(/^./, (letter) => letter.toUpperCase()),
      name.toUpperCase(),
    ]);
    const words = [...inNames, ...SCOPES, ...CONFLICT_REASONS, ...catalogue.names];
    const named = new RegExp(words.join('|'));
    t.match('dropPasskeys', named);
    for (const [file, content] of text)
      if (isIn(file, 'platform'))
        t.equal(
          named.test(content),
          file in NAMES_CAPABILITIES,
          `${file} names ${named.exec(content)?.[0]}`,
        );
  },
);

t.test(
  'the console has the folders that are listed, and only a folder sets its states',
  async (t) => {
    const inConsole = files.filter((file) => isIn(file, 'web/console'));
    const folders = new Set(inConsole.flatMap((file) => consoleFolder(file) ?? []));
    t.same([...folders].sort(), CONSOLE.toSorted());
    const owners = new Map(
      inConsole.flatMap((file) =>
        [...(text.get(file) ?? '').matchAll(/export const (\w+) = createState\b/g)].map(
          ([, name]) => [name, consoleFolder(file)] as const,
        ),
      ),
    );
    t.ok(owners.size > 10);
    for (const file of inConsole)
      for (const [, name] of (text.get(file) ?? '').matchAll(/\b(\w+State)\.set\(/g))
        t.equal(owners.get(name), consoleFolder(file), `${file} sets ${name}`);
  },
);

t.test('no two files of the console and of what pages share have the same name', async (t) => {
  const stems = files
    .filter((file) => isIn(file, 'web/console') || isIn(file, 'web/shared'))
    .map((file) => basename(file).replace(/\.tsx?$/, ''));
  t.same(
    stems.filter((stem, at) => stems.indexOf(stem) !== at),
    [],
  );
});

t.test('read models are written by their projections alone', async (t) => {
  const tables = projections.flatMap((projection) => projection.tables).join('|');
  const write = new RegExp(`(?:INSERT INTO|UPDATE|DELETE FROM)\\s+(?:${tables})\\b`);
  t.match('DELETE FROM notes', write);
  for (const [file, content] of text)
    if (/^(platform|domain|services|workers|cli)\//.test(file)) t.notMatch(content, write, file);
});

/** Events that no read model has, each list for its reason. */
const WITHOUT_READ_MODEL = [
  // Sessions and passkeys are primary data; members find these events in their feeds.
  ...['SessionStarted', 'SessionEnded', 'PasskeyAdded', 'PasskeyRemoved'],
  // The audit reads these from the log.
  ...['ClaimTakenOver', 'CommentAdded', 'CommentDeleted', 'NotesFolded', 'NotesUnfolded'],
  ...['ModeratorSignedIn', 'ModeratorSignedOut', 'ModeratorTokenRotated', 'ReadModelsMended'],
  ...['QueueOverdue', 'QueueCaughtUp'],
];

t.test('every event changes a read model, with named exceptions', async (t) => {
  const handled = new Set(
    projections.flatMap(({ name, on }) => (name === 'feed' ? [] : Object.keys(on))),
  );
  t.same(catalogue.names.filter((type) => !handled.has(type)).sort(), WITHOUT_READ_MODEL.sort());
});

t.test('receipts are bound, read and compared by the idempotency module alone', async (t) => {
  const eventStore = /^platform\/eventstore\/(event-store|idempotency|receipts)\.ts$/;
  for (const [file, content] of text)
    if (/^(platform|domain|services|workers|cli)\//.test(file) && !eventStore.test(file))
      t.notMatch(content, /\b(readReceipt|receiptStatement)\b/, file);
});

t.test('a file of the service has one subject and at most 400 lines', async (t) => {
  for (const [file, content] of text) {
    if (isIn(file, 'test') || isIn(file, 'harness') || isIn(file, 'bench')) continue;
    const generated = file === 'client/schema.ts';
    if (!generated) t.ok(content.split('\n').length <= 401, file);
    t.notMatch(file, /(utils?|helpers?|common|core|types|constants|index)\.ts$/);
  }
});

/** Where JSON.parse may be called, and why its names need no mending (`platform/json.ts`). */
const PARSES: Readonly<Record<string, string>> = {
  'platform/json.ts': 'mends them',
  'platform/http/strict-json.ts': 'has them mended',
  'services/protocols/a2a/card.ts': 'reads schemas of this project',
  'platform/embedded/binaries.ts': 'reads a file of a package',
  'platform/http/examples.ts': 'reads a file of this project',
  'services/release-plan.ts': 'reads a file of this project',
  'services/cluster.ts': 'reads settings of a server under names of this project',
};

t.test('JSON from elsewhere is read with the names that it has', async (t) => {
  for (const [file, content] of text)
    if (/^(platform|domain|services|projections|workers)\//.test(file))
      t.equal(content.includes('JSON.parse('), file in PARSES, `${file} calls JSON.parse`);
});

t.test('only handle and the wrappers of the store execute a plan', async (t) => {
  const executing = files.filter(
    (file) =>
      ['platform', 'services', 'projections', 'workers', 'cli'].some((one) => isIn(file, one)) &&
      /\bstore\.execute\(/.test(text.get(file) ?? ''),
  );
  t.same(executing, [
    'platform/eventstore/handle.ts',
    'platform/jobs/boss.ts',
    'platform/telemetry/traced-store.ts',
    'platform/throughput/group-commit.ts',
  ]);
});
