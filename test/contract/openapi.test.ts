import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import t from 'tap';
import { CONFLICT_REASONS } from '../../domain/conflict.ts';
import { UPDATE_TYPES } from '../../domain/updates/update-type.ts';
import { toOpenApi30 } from '../../platform/http/openapi-3.0.ts';
import { type ProblemCode, problems, wireCode } from '../../platform/http/problems.ts';
import { WRITES_PER_DAY } from '../../platform/limits/write-budget.ts';
import { openApiDocument, strictOpenApiDocument } from '../../services/documents/openapi.ts';
import { agentCard } from '../../services/protocols/a2a/card.ts';
import { offeredOperations } from '../../services/protocols/a2a/operations.ts';
import { toCompactJson } from '../support/compact-json.ts';
import { startService } from '../support/service.ts';

/** The document of this release, whose answers are closed. */
const GOLDEN = join(import.meta.dirname, 'openapi.golden.json');
/** What differs from it in the document in 3.0, whose answers are open. */
const GOLDEN_3_0 = join(import.meta.dirname, 'openapi-3.0.golden.json');

/** The hash of the agent card of A2A, and since when it has it. */
const CARD_CHANGED = join(import.meta.dirname, '../../services/protocols/a2a/card-changed.json');

interface Node {
  $ref?: string;
  description?: string;
  const?: unknown;
  oneOf?: Node[];
  discriminator?: { propertyName: string; mapping?: Record<string, string> };
  properties?: Record<string, Node>;
  required?: string[];
  type?: string | string[];
  items?: unknown;
  minimum?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
  schema?: object;
}

interface Media {
  schema?: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Part {
  $ref?: string;
  description?: string;
  content?: Record<string, Media>;
}

/** The recorded exchange of an operation. */
const examplesOf = (operationId: string): { replies: Record<string, unknown> } =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../../platform/http/examples.json'), 'utf8'))[
    operationId
  ];

interface Operation {
  operationId: string;
  summary: string;
  parameters?: { in: string; name: string; description?: string; schema: Node }[];
  requestBody?: Part;
  responses: Record<string, Part>;
}

interface Handoff {
  properties: { content: { properties: { attribution: { maxProperties?: number } } } };
}

interface Refused {
  status: string;
  error: { code: string };
}

const service = await startService(t);
const ADDRESS = 'https://service.test';
const document = openApiDocument(service.routes, ADDRESS);
const strict = strictOpenApiDocument(service.routes, ADDRESS);

const refused = Object.entries((document.components?.responses ?? {}) as Record<string, Part>);
const operations = Object.values(document.paths ?? {}).flatMap(
  (item) => Object.values(item) as Operation[],
);

const codesOf = ($ref: string) =>
  Object.fromEntries(refused)[$ref.split('/').at(-1) ?? '']?.description ?? '';

/** Every schema of a document, with its path. */
function* nodes(value: unknown, path: string): Generator<[path: string, node: Node]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value];
  for (const [name, part] of Object.entries(value))
    if (!['example', 'examples', 'default', 'enum'].includes(name))
      yield* nodes(part, `${path}/${name}`);
}

/** The document without its recorded examples, which platform/http/examples.json has. */
function withoutExamples(openApi: object): object {
  return JSON.parse(JSON.stringify(openApi), (_, value) => {
    if (typeof value?.schema === 'object') delete value.example;
    return value;
  });
}

/** The parts of `value` that are not in `base`; undefined for none. Lists are compared whole. */
function differences(value: unknown, base: unknown): unknown {
  if (JSON.stringify(value) === JSON.stringify(base)) return undefined;
  const [parts, others] = [value, base].map((each) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? each : undefined,
  ) as [Record<string, unknown> | undefined, Record<string, unknown> | undefined];
  if (!parts || !others) return value;
  return Object.fromEntries(
    [...new Set([...Object.keys(parts), ...Object.keys(others)])].flatMap((name) => {
      const difference = name in parts ? differences(parts[name], others[name]) : 'absent';
      return difference === undefined ? [] : [[name, difference]];
    }),
  );
}

for (const [file, current] of [
  [GOLDEN, withoutExamples(strict)],
  [GOLDEN_3_0, differences(withoutExamples(toOpenApi30(document)), withoutExamples(strict))],
] as const)
  t.test(`equals ${basename(file)}`, async (t) => {
    const text = `${toCompactJson(current)}\n`;
    if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
    t.comment(
      `${text.length} bytes, ${JSON.stringify(current).length} of them without white space`,
    );
    // Compare the text first: a difference of thousands of lines is less helpful.
    const golden = readFileSync(file, 'utf8');
    if (text !== golden) t.same(JSON.parse(text), JSON.parse(golden));
    t.ok(text === golden, 'run `npm run openapi` and review the difference');
  });

t.test('dates the agent card by its last change', async (t) => {
  const card = agentCard(offeredOperations(service.operations), 'https://service.test');
  const sha256 = hash('sha256', JSON.stringify(card)).slice(0, 16);
  const read = (): { date: string; sha256: string } =>
    JSON.parse(readFileSync(CARD_CHANGED, 'utf8'));
  if (process.env.UPDATE_GOLDEN && read().sha256 !== sha256) {
    const date = new Date().toISOString().slice(0, 10);
    writeFileSync(CARD_CHANGED, `${toCompactJson({ date, sha256 })}\n`);
  }
  t.equal(sha256, read().sha256, 'the operations of the card changed: run `npm run openapi`');
});

t.test('serves both documents, at its own address', async (t) => {
  for (const [path, expected] of [
    ['/openapi.json', document],
    ['/openapi-3.0.json', toOpenApi30(document)],
  ] as const) {
    const { body } = await service.call('GET', path);
    const own = JSON.stringify(expected).replaceAll(ADDRESS, service.baseUrl);
    t.same(body, JSON.parse(own), path);
  }
});

t.test('uses no keyword that code generators fail on', async (t) => {
  for (const [path, { type, items, minimum, maximum, format, pattern }] of nodes(document, '')) {
    if (items === false) t.fail(`${path}: items is false`);
    if (Array.isArray(type) && (type.length !== 2 || !type.includes('null')))
      t.fail(`${path}: type is ${type.join(', ')}`);
    if (maximum === Number.MAX_SAFE_INTEGER || minimum === Number.MIN_SAFE_INTEGER)
      t.fail(`${path}: the bounds of every safe integer`);
    if (format === 'date-time' && (pattern?.length ?? 0) > 40)
      t.fail(`${path}: a pattern beside date-time`);
  }
  for (const [kind, parts] of Object.entries(document.components ?? {}))
    if (kind !== 'headers')
      for (const name of Object.keys(parts)) t.match(name, /^[A-Za-z][A-Za-z0-9]*$/, kind);
  const { version, license } = document.info;
  t.match(version, /^\d+\.\d+\.\d+$/);
  for (const [path, node] of nodes(document, '')) {
    if (typeof node.const === 'boolean') t.fail(`${path}: a boolean constant`);
    if (node.type === 'number' && Number.isInteger(node.const))
      t.fail(`${path}: an integer that is a number`);
    if (node.pattern !== undefined && ![node.type].flat().includes('string'))
      t.fail(`${path}: a pattern of no string`);
    // Ruby ends a pattern there.
    if (node.pattern?.includes('\\\\/')) t.fail(`${path}: a slash behind a backslash`);
  }
  // Go names the constructor of each model `New…`.
  for (const name of Object.keys(document.components?.schemas ?? {})) t.notMatch(name, /^New/);
  t.notOk(license, 'a licence would have to be an SPDX identifier');
});

t.test('describes request headers as plain strings', async (t) => {
  for (const { operationId, parameters = [] } of operations)
    for (const { in: place, name, schema } of parameters) {
      if (place !== 'header') continue;
      t.equal(schema.type, 'string', `${operationId} ${name}`);
      t.notOk('const' in schema, `${operationId} ${name}`);
      if (name === 'Idempotency-Key') {
        t.ok(schema.pattern);
        t.notOk(schema.format);
      }
    }
});

t.test('has no recursive schema', async (t) => {
  const schemas = (document.components?.schemas ?? {}) as Record<string, object>;
  const visit = (name: string, above: readonly string[]): void => {
    const recursive = above.includes(name);
    if (recursive) t.fail([...above, name].join(' → '));
    else
      for (const [, { $ref }] of nodes(schemas[name], ''))
        if ($ref) visit($ref.split('/').at(-1) ?? '', [...above, name]);
  };
  for (const name of Object.keys(schemas)) visit(name, []);
});

t.test('avoids schema names that generators also derive from operations', async (t) => {
  const plain = (name: string) => name.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
  const names = new Map(operations.map(({ operationId }) => [plain(operationId), operationId]));
  for (const name of Object.keys(document.components?.schemas ?? {}))
    t.notOk(names.get(plain(name)), name);
});

t.test('describes Retry-After as an integer everywhere', async (t) => {
  let found = 0;
  for (const [path, node] of nodes(document, ''))
    if (path.endsWith('/Retry-After')) {
      found++;
      t.same(node.schema, { type: 'integer' }, path);
    }
  t.ok(found >= 3);
});

t.test('documents a success of every operation but three that redirect', async (t) => {
  const without = operations.filter(
    ({ responses }) => !Object.keys(responses).some((status) => status.startsWith('2')),
  );
  t.same(
    without.map(({ operationId }) => operationId),
    ['pages.guestbook_moved', 'pages.sign', 'pages.report_send'],
  );
});

t.test('describes every operation, parameter, schema and property', async (t) => {
  for (const { operationId, summary, parameters = [] } of operations) {
    t.ok(summary, operationId);
    for (const { name, description } of parameters)
      if (!description) t.fail(`${operationId}: describe the parameter ${name} (glossary.ts)`);
  }
  const schemas = (document.components?.schemas ?? {}) as Record<string, Node>;
  for (const [name, schema] of Object.entries(schemas)) {
    if (!schema.description) t.fail(`describe the schema ${name}`);
    for (const [path, node] of nodes(schema, name))
      for (const [property, { $ref, description }] of Object.entries(node.properties ?? {}))
        if (typeof $ref !== 'string' && !description)
          t.fail(`describe ${path}.${property} where it is defined, or its name in glossary.ts`);
  }
});

t.test('allows in answers what a later release may add, and in requests nothing', async (t) => {
  const schemas = document.components?.schemas as Record<string, object>;
  const closed = new Set(
    Object.entries(schemas)
      .filter(([, schema]) => JSON.stringify(schema).includes('"additionalProperties":false'))
      .map(([name]) => name),
  );
  const reached = (part: unknown, found = new Set<string>()): Set<string> => {
    for (const [, $ref] of JSON.stringify(part ?? {}).matchAll(/"\$ref":"([^"]*)"/g)) {
      const [, , kind = '', name = ''] = $ref?.split('/') ?? [];
      const target = (document.components as Record<string, Record<string, object>>)[kind]?.[name];
      if (found.has(name)) continue;
      reached(target, found.add(name));
    }
    return found;
  };
  let requests = 0;
  for (const { operationId, requestBody, responses } of operations) {
    for (const name of reached(responses)) {
      if (closed.has(name)) t.fail(`${operationId} answers ${name}, which is closed`);
      for (const [path, node] of nodes(schemas[name], name))
        if ('enum' in node) t.fail(`${operationId} answers ${path}, an enumeration`);
    }
    for (const name of reached(requestBody)) {
      requests += Number(closed.has(name));
      if (/^Other|Output$/.test(name)) t.fail(`${operationId} takes ${name}`);
    }
  }
  t.ok(requests > 40, `${requests} closed requests`);

  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'openapi', components: document.components });
  ajv.addSchema({ $id: 'strict', components: strict.components });
  const { events, ...page } = examplesOf('updates.list').replies[200] as { events: object[] };
  const [event] = events;
  const future = { ...event, type: 'future.event', data: { colour: 'green' }, shade: 1 };
  const body = { ...page, events: [event, future, { ...event, note: null }], total: 3 };
  t.ok(ajv.validate({ $ref: 'openapi#/components/schemas/UpdatePage' }, body), ajv.errorsText());
  t.notOk(ajv.validate({ $ref: 'strict#/components/schemas/UpdatePage' }, body));
});

t.test('names every JSON body', async (t) => {
  for (const { operationId, requestBody, responses } of operations)
    for (const [where, part] of [['request', requestBody] as const, ...Object.entries(responses)]) {
      const json = part?.content?.['application/json'];
      if (json)
        t.match(json.schema, { $ref: /^#\/components\/schemas\// }, `${operationId} ${where}`);
    }
});

t.test('maps each value of a discriminator to the schema that has it', async (t) => {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Node>;
  const seen: string[] = [];
  for (const [name, { oneOf, discriminator }] of Object.entries(schemas)) {
    if (!oneOf) continue;
    seen.push(name);
    const { propertyName, mapping = {} } = discriminator ?? { propertyName: '' };
    t.same(
      Object.values(mapping),
      oneOf.map(({ $ref }) => $ref),
      name,
    );
    for (const [value, $ref] of Object.entries(mapping)) {
      const { properties, required } = schemas[$ref.split('/').at(-1) ?? ''] ?? {};
      t.equal(properties?.[propertyName]?.const, value, $ref);
      t.ok(required?.includes(propertyName), $ref);
    }
  }
  t.same(seen.sort(), ['BatchDecision', 'NoteDecision', 'Packet', 'SubjectDecision']);
});

t.test('has a schema for each type of update', async (t) => {
  const { UpdateEvent } = (strict.components?.schemas ?? {}) as Record<string, Node>;
  t.same(Object.keys(UpdateEvent?.discriminator?.mapping ?? {}), Object.keys(UPDATE_TYPES));
  const opened = document.components?.schemas?.UpdateEvent as { anyOf: Node[] };
  t.same(
    opened.anyOf.map(({ $ref }) => $ref),
    [...(UpdateEvent?.oneOf ?? []), { $ref: '#/components/schemas/OtherUpdateEvent' }].map(
      ({ $ref }) => $ref,
    ),
  );
});

t.test('lists no HEAD, and documents other methods with each operation', async (t) => {
  for (const [path, item] of Object.entries(document.paths ?? {})) t.notOk(item.head, path);
  t.match(document.info.description, /HEAD/);
  for (const { operationId, responses } of operations)
    t.ok(responses[405]?.$ref ?? responses[405]?.content?.['application/json'], operationId);
});

t.test('refuses with one schema, but at the paths that the guide for generators names', (t) => {
  const schemaOf = ({ $ref, content }: Part) => {
    const all = $ref ? Object.fromEntries(refused)[$ref.split('/').at(-1) ?? '']?.content : content;
    return JSON.stringify((all?.['application/json'] ?? Object.values(all ?? {})[0])?.schema);
  };
  const several = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
    (Object.values(item) as Operation[])
      .map(({ responses }) => Object.entries(responses).filter(([status]) => status >= '400'))
      .filter((refusals) => new Set(refusals.map(([, one]) => schemaOf(one))).size > 1)
      .map(() => path),
  );
  const guide = readFileSync('docs/guides/api-client.md', 'utf8');
  const named = /Progenitor \(Rust\).*?leave out (.*?):/s.exec(guide)?.[1]?.match(/\/\w+/g);
  t.same(several.sort(), named?.sort());
  t.end();
});

t.test('documents every refusal as a Problem with an example per code', async (t) => {
  for (const [name, { description = '', content }] of refused) {
    const { schema, examples = {} } = content?.['application/json'] ?? {};
    t.same(schema, { $ref: '#/components/schemas/Problem' }, name);
    t.same(
      Object.keys(examples)
        .map((code) => `\`${code}\``)
        .sort(),
      description.split(', '),
    );
    for (const [code, { value }] of Object.entries(examples)) {
      const { status, error } = value as Refused;
      t.same([status, error.code], [code, code], name);
    }
  }
  const codes = strict.components?.schemas?.ErrorCode as { enum: string[] };
  t.same(codes.enum, [...new Set((Object.keys(problems) as ProblemCode[]).map(wireCode))].sort());
  const error = strict.components?.schemas?.ErrorDetails as {
    properties: Record<string, object>;
  };
  t.match(error.properties.reason, { enum: CONFLICT_REASONS });
});

t.test(
  'documents the budget refusal for exactly the operations that declare the budget',
  async (t) => {
    const limited = operations
      .filter(({ responses }) => {
        const { $ref, description } = responses[429] ?? {};
        return (description ?? ($ref ? codesOf($ref) : '')).includes('write_budget_exhausted');
      })
      .map(({ operationId }) => operationId);
    for (const { contract } of service.routes)
      for (const [id, { path, idempotency, limits = [] }] of Object.entries(contract))
        if (path.startsWith('/api/v1/') && idempotency === 'required')
          t.equal(limited.includes(id), limits.includes(WRITES_PER_DAY), id);
  },
);

t.test('documents every checked count of members', async (t) => {
  const packet = document.components?.schemas?.HandoffPacket as Handoff | undefined;
  t.equal(packet?.properties.content.properties.attribution.maxProperties, 200);
});

t.test('has examples that fit their schemas', async (t) => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema({ $id: 'openapi', components: document.components });
  const shared = Object.fromEntries(refused);
  let checked = 0;
  for (const { operationId, requestBody, responses } of operations)
    for (const [where, given] of [
      ['request', requestBody] as const,
      ...Object.entries(responses),
    ]) {
      const part = given?.$ref ? shared[given.$ref.split('/').at(-1) ?? ''] : given;
      const json = part?.content?.['application/json'];
      if (!json?.schema) continue;
      const schema = JSON.stringify(json.schema).replaceAll('"#/comp', '"openapi#/comp');
      const valid = ajv.compile(JSON.parse(schema));
      const examples = json.examples
        ? Object.values(json.examples).map(({ value }) => value)
        : [json.example];
      for (const example of examples) {
        // `test/contract/examples.test.ts` checks which bodies have an example.
        if (example === undefined) continue;
        t.notMatch(JSON.stringify(example), /"x+"/, `${operationId} ${where} has no filler`);
        if (!valid(example)) t.fail(`${operationId} ${where}: ${ajv.errorsText(valid.errors)}`);
        checked++;
      }
    }
  t.ok(checked > operations.length);
});
