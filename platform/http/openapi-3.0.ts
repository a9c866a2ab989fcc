import type { OpenApiDocument } from './openapi.ts';

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  description?: string;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  prefixItems?: Schema[];
  [keyword: string]: unknown;
}

type Deps = Record<string, Part>;

interface Part {
  $ref?: string;
  schema?: Schema;
  headers?: Deps;
  content?: Deps;
  parameters?: Part[];
  requestBody?: Part;
  responses?: Deps;
  security?: Record<string, string[]>[];
  [field: string]: unknown;
}

/**
 * Converts the document to OpenAPI 3.0.3, for tools that do not read 3.1. The meaning is the same,
 * but less precise where 3.0 has no equivalent.
 */
export function toOpenApi30(document: OpenApiDocument): object {
  const {
    components = {},
    paths = {},
    ...rest
  } = document as unknown as {
    components?: Record<string, Deps>;
    paths?: Record<string, Deps>;
  };
  return {
    ...rest,
    openapi: '3.0.3',
    paths: mapValues(paths, (item) => mapValues(item, operation)),
    components: {
      ...components,
      schemas: mapValues((components.schemas ?? {}) as Record<string, Schema>, schemaIn30),
      headers: mapValues(components.headers ?? {}, part),
      responses: mapValues(components.responses ?? {}, part),
    },
  };
}

function mapValues<From, To>(values: Record<string, From>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function operation({ parameters, requestBody, responses, security, ...rest }: Part): Part {
  return {
    ...rest,
    // 3.0 allows scopes only for OAuth; the description of each operation names its scope.
    ...(security ? { security: security.map((need) => mapValues(need, () => [])) } : {}),
    ...(parameters ? { parameters: parameters.map(part) } : {}),
    ...(requestBody ? { requestBody: part(requestBody) } : {}),
    ...(responses ? { responses: mapValues(responses, part) } : {}),
  };
}

/** Converts a parameter, header, body, response or media type. */
function part({ schema, headers, content, ...rest }: Part): Part {
  // In 3.0 a reference cannot have a description.
  if (rest.$ref) return { $ref: rest.$ref };
  return {
    ...rest,
    ...(schema ? { schema: schemaIn30(schema) } : {}),
    ...(headers ? { headers: mapValues(headers, part) } : {}),
    ...(content ? { content: mapValues(content, part) } : {}),
  };
}

/** In 3.0, `nullable` beside a reference does not admit null. */
const NULL: Schema = { type: 'object', nullable: true, enum: [null] };

const isNull = ({ type }: Schema): boolean => type === 'null';

function schemaIn30(schema: Schema): Schema {
  const { $ref, type, examples, propertyNames: _, prefixItems, ...rest } = schema;
  if ($ref) return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest };
  const next: Schema = { ...rest };
  // Some generators refuse unknown fields of an object unless it says that it allows them.
  if (type === 'object' && next.properties) next.additionalProperties ??= true;
  if (Array.isArray(type)) {
    const [only, ...others] = type.filter((name) => name !== 'null');
    if (!only || others.length > 0) throw new Error(`3.0 has no type ${type.join(', ')}`);
    next.type = only;
    next.nullable = true;
  } else if (type !== undefined) next.type = type;
  if (next.format === 'date-time') delete next.pattern;
  if (examples) next.example = examples[0];
  if ('const' in next) withoutConst(next);
  if (next.properties) next.properties = mapValues(next.properties, schemaIn30);
  if (typeof next.additionalProperties === 'object')
    next.additionalProperties =
      Object.keys(next.additionalProperties).length === 0 || schemaIn30(next.additionalProperties);
  if (prefixItems) next.items = anyOfThese(prefixItems.map(schemaIn30));
  else if (next.items) next.items = schemaIn30(next.items);
  for (const keyword of ['allOf', 'anyOf', 'oneOf'])
    if (next[keyword]) combine(next, keyword, next[keyword] as Schema[]);
  return next;
}

/** One of the schemas, each once: the items of a pair of numbers are numbers. */
function anyOfThese(schemas: readonly Schema[]): Schema {
  const different = new Map(schemas.map((schema) => [JSON.stringify(schema), schema]));
  const [only, ...others] = different.values();
  return only && others.length === 0 ? only : { anyOf: [...different.values()] };
}

function withoutConst(schema: Schema): void {
  const { const: value, description } = schema;
  delete schema.const;
  // Code generators do not support enumerations of booleans.
  if (typeof value !== 'boolean') schema.enum = [value];
  else schema.description = [description, `Always ${value}.`].filter(Boolean).join(' ');
}

/**
 * Removes `null` from alternatives and sets `nullable`; a single alternative replaces the union.
 */
function combine(schema: Schema, keyword: string, alternatives: Schema[]): void {
  const others = alternatives.filter((one) => !isNull(one)).map(schemaIn30);
  const [only] = others;
  const nullable = others.length < alternatives.length;
  if (!nullable || !only || others.length > 1) {
    schema[keyword] = nullable ? [...others, NULL] : others;
    return;
  }
  delete schema[keyword];
  if (only.$ref) schema.anyOf = [only, NULL];
  else Object.assign(schema, { ...only, ...schema, nullable: true });
  if (schema.enum) schema.enum = [...schema.enum, null];
}
