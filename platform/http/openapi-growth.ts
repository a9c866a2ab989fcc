import type { createDocument } from 'zod-openapi';

type OpenApiDocument = ReturnType<typeof createDocument>;

interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  discriminator?: { propertyName: string };
  [keyword: string]: unknown;
}

type Schemas = Record<string, Schema>;

const PREFIX = '#/components/schemas/';

/** Replies of protocols, whose forms cannot become more. */
const COMPLETE_UNIONS = ['A2aReply'];

/**
 * Opens the answers of a document, because a later release may add fields, enumeration values and
 * types of update (docs/reference/wire-contract.md): clients that validate answers must not fail on
 * them. Request bodies stay closed. A schema that both use is copied for answers, as `…Output`.
 */
export function openAnswers(strict: OpenApiDocument): OpenApiDocument {
  const document = structuredClone(strict);
  const { schemas = {}, responses = {} } = document.components as {
    schemas?: Schemas;
    responses?: object;
  };
  const operations = Object.values(document.paths ?? {}).flatMap(
    (item) => Object.values(item) as { requestBody?: object; responses: object }[],
  );
  const inRequests = reachable(
    operations.map(({ requestBody }) => requestBody),
    schemas,
  );
  const answers = [...operations.map((operation) => operation.responses), responses];
  const inAnswers = reachable(answers, schemas);

  const opened: Schemas = {};
  for (const name of inAnswers) {
    const schema = schemas[name] as Schema;
    opened[name] = schema.type === 'string' && !schema.enum ? schema : openSchema(schema);
  }
  const copied = new Set(
    [...inAnswers].filter(
      (name) =>
        inRequests.has(name) &&
        [...reachable([{ $ref: PREFIX + name }], schemas)].some(
          (part) => JSON.stringify(opened[part]) !== JSON.stringify(schemas[part]),
        ),
    ),
  );
  const answerName = (name: string) => (copied.has(name) ? `${name}Output` : name);
  for (const [name, schema] of Object.entries(opened)) {
    const members = (schema.anyOf ?? []).filter(({ $ref }) => $ref);
    if (members.length < 2 || COMPLETE_UNIONS.includes(name)) continue;
    const other = `Other${name}`;
    schemas[other] = otherForm(members.map(({ $ref }) => opened[nameOf($ref)] as Schema));
    schema.anyOf?.push({ $ref: PREFIX + other });
  }
  for (const [name, schema] of Object.entries(opened)) schemas[answerName(name)] = schema;
  for (const part of [
    ...Object.keys(opened)
      .map(answerName)
      .map((name) => schemas[name]),
    answers,
  ])
    renameReferences(part, answerName);
  for (const name of inRequests) withoutBooleanConstants(schemas[name], 'Must be');
  (document.components as { schemas: Schemas }).schemas = Object.fromEntries(
    Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
  return document;
}

const nameOf = ($ref = ''): string => $ref.slice(PREFIX.length);

/** The names of all schemas to which `parts` refer, directly or through others. */
function reachable(parts: unknown, schemas: Schemas, found = new Set<string>()): Set<string> {
  if (typeof parts !== 'object' || parts === null) return found;
  for (const [key, part] of Object.entries(parts))
    if (key === '$ref' && typeof part === 'string') {
      const name = nameOf(part);
      if (!schemas[name] || found.has(name)) continue;
      found.add(name);
      reachable(schemas[name], schemas, found);
    } else if (!EXAMPLES.has(key)) reachable(part, schemas, found);
  return found;
}

const EXAMPLES = new Set(['example', 'examples', 'default']);

/** A copy that allows unknown fields and values. */
function openSchema(schema: Schema): Schema {
  const { oneOf, discriminator, ...rest } = openParts(schema) as Schema;
  // A discriminator allows only the values that it lists.
  return oneOf ? { ...rest, anyOf: oneOf } : { ...rest };
}

function openParts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openParts);
  if (typeof value !== 'object' || value === null) return value;
  return opened(
    Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, EXAMPLES.has(key) ? part : openParts(part)]),
    ),
  );
}

function opened(value: Schema): Schema {
  if (value.additionalProperties === false) delete value.additionalProperties;
  if (typeof value.pattern === 'string') delete value.pattern;
  if (Array.isArray(value.enum) && value.type === 'string') {
    const { enum: values, ...rest } = value;
    return enumeration(rest, values);
  }
  return withoutBooleanConstant(value, 'Always');
}

/** A string that has one of `values` in this release. */
function enumeration(schema: Schema, values: readonly unknown[]): Schema {
  const list = values.map((value) => `\`${value}\``).join(', ');
  const known = values.length > 1 ? `One of ${list}` : `${list} in this release`;
  return {
    ...schema,
    description: joined(schema.description, `${known}; a later release may add values.`),
    'x-extensible-enum': values,
  };
}

const joined = (...texts: (string | undefined)[]): string =>
  texts.flatMap((text) => text?.replace(/[^.]$/, '$&.') ?? []).join(' ');

function withoutBooleanConstants(value: unknown, word: string): void {
  if (typeof value !== 'object' || value === null) return;
  withoutBooleanConstant(value as Schema, word);
  for (const part of Object.values(value)) withoutBooleanConstants(part, word);
}

/** Code generators write an enumeration of strings for a boolean constant. */
function withoutBooleanConstant(value: Schema, word: string): Schema {
  if (typeof value.const !== 'boolean') return value;
  value.description = joined(value.description, `${word} ${value.const}.`);
  delete value.const;
  return value;
}

/** The form of a value of a union that this release does not know: what all its forms have. */
const otherForm = (forms: readonly Schema[]): Schema => ({
  ...commonForm(forms),
  description: 'A form that a later release may add. Ignore it if you do not know it.',
});

/** What several schemas have in common; a constant becomes its type. */
function commonForm(schemas: readonly Schema[]): Schema {
  const [first, ...others] = schemas as [Schema, ...Schema[]];
  if (others.every((other) => JSON.stringify(other) === JSON.stringify(first))) return first;
  const description = schemas.find((schema) => schema.description)?.description;
  const text = description ? { description } : {};
  const types = new Set(schemas.map(({ type }) => String(type)));
  if (types.size > 1 || typeof first.type !== 'string') return text;
  const values = new Set(schemas.flatMap((schema) => schema['x-extensible-enum'] ?? []));
  if (values.size > 0) return enumeration({ type: first.type }, [...values]);
  if (first.type === 'array') {
    // An array without a schema of its items is valid, but generators refuse it.
    const items = commonForm(schemas.map((schema) => (schema.items ?? {}) as Schema));
    return { type: 'array', ...text, items };
  }
  if (!schemas.every(({ properties }) => properties)) return { type: first.type, ...text };
  const names = Object.keys(first.properties ?? {}).filter((name) =>
    others.every(({ properties }) => properties?.[name]),
  );
  const required = names.filter((name) =>
    schemas.every((schema) => schema.required?.includes(name)),
  );
  return {
    type: first.type,
    ...text,
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        commonForm(schemas.map(({ properties }) => properties?.[name] as Schema)),
      ]),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

function renameReferences(value: unknown, rename: (name: string) => string): void {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Schema;
  if (node.$ref?.startsWith(PREFIX)) node.$ref = PREFIX + rename(nameOf(node.$ref));
  for (const [key, part] of Object.entries(node))
    if (!EXAMPLES.has(key)) renameReferences(part, rename);
}
