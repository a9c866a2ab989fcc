import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// Writes `client/schema.ts`, the types of the client, from the OpenAPI document. A test compares the file, so
// a change of the contract that the client does not follow does not compile.

const ROOT = join(import.meta.dirname, '../..');
export const TYPES_FILE = join(ROOT, 'client/schema.ts');

/** Operations of people, operators and moderators, which the client does not have. */
const LEFT_OUT =
  /^(pages|feeds|documents|moderation|transparency|operations|passkey|disabled|a2a|mcp|discovery|status)\./;

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: Schema[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  schema: Schema;
  description?: string;
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

interface Operation {
  operationId: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
  security?: object[];
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const REF = /"\$ref":"#\/components\/schemas\/([^"]+)"/g;

/** The text of `client/schema.ts` for a document. */
export const clientTypes = (document: Document): string => indent(render(document));

function render({ paths, components: { schemas } }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { operationId }]) => operationId && !LEFT_OUT.test(operationId))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const reach = (part: unknown, found = new Set<string>()): Set<string> => {
    for (const [, name = ''] of JSON.stringify(part ?? {}).matchAll(REF))
      if (!found.has(name)) reach(schemas[name], found.add(name));
    return found;
  };
  const sent = reach(operations.map(({ requestBody }) => requestBody));
  const all = reach([...operations.map(bodyOf), ...operations.map(replyOf)], new Set(sent));
  for (const name of ['ErrorCode', 'Issue']) all.add(name);
  const named = [...all].sort().map((name) => {
    const schema = schemas[name] ?? {};
    if (name === 'UpdateEvent') return updateEvent(schema);
    return `${doc(schema.description)}export type ${name} = ${typeOf(schema, !sent.has(name))};`;
  });
  const rows = operations.map((operation) => {
    const { operationId, parameters = [] } = operation;
    const within = (place: string) => parameters.filter((one) => one.in === place);
    const body = bodyOf(operation);
    return `${doc(operation.summary)}'${operationId}': {
      path: ${fieldsOf(within('path'))};
      query: ${fieldsOf(within('query'))};
      body: ${body ? typeOf(body, false) : 'undefined'};
      reply: ${typeOf(replyOf(operation) ?? {}, true)};
    };`;
  });
  const routes = operations.map(
    ({ operationId, method, path }) => `'${operationId}': ['${method}', '${path}'],`,
  );
  return `// Generated from the OpenAPI document by \`npm run client:types\`. Do not edit.

/** Any string that is no known type: a comparison with a known type narrows the event. */
declare enum UnknownType {
  example = 'later.event',
}

/** An update of a type that this version of the client does not know. Ignore it. */
export interface OtherEvent {
  id: string;
  sequence: number;
  type: UnknownType;
  occurred_at: string;
  subject: { type: string; id: string };
  actor: Actor;
  data: Record<string, unknown>;
}

${named.join('\n\n')}

/** What each operation takes and answers. */
export interface Operations {
${rows.join('\n')}
}

/** Method and path of each operation. */
export const ROUTES = {
${routes.join('\n')}
} as const satisfies Record<keyof Operations, readonly ['GET' | 'POST', string]>;
`;
}

function updateEvent({ oneOf = [] }: Schema): string {
  const known = oneOf.map((one) => typeOf(one, true)).join(' | ');
  return `/** An update of a type that this version knows; \`type\` says which. */
export type KnownEvent = ${known};

/** An update of any type. */
export type UpdateEvent = KnownEvent | OtherEvent;`;
}

const bodyOf = ({ requestBody }: Operation) => requestBody?.content?.['application/json']?.schema;

function replyOf({ responses }: Operation): Schema | undefined {
  const good = Object.entries(responses).filter(([status]) => /^2/.test(status));
  const bodies = good.flatMap(([, { content }]) => content?.['application/json']?.schema ?? []);
  const [first, ...more] = [
    ...new Map(bodies.map((body) => [JSON.stringify(body), body])).values(),
  ];
  return more.length > 0 && first ? { anyOf: [first, ...more] } : first;
}

const fieldsOf = (parameters: Parameter[]): string =>
  parameters.length === 0
    ? 'Record<never, never>'
    : `{ ${parameters
        .map(
          ({ name, required, schema, description }) =>
            `${doc(description ?? schema.description)}${name}${required ? '' : '?'}: ${typeOf(schema, false)}${required ? '' : ' | undefined'};`,
        )
        .join('\n')} }`;

const doc = (text: string | undefined): string =>
  text ? `/** ${text.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ')} */\n` : '';

/** The type of a schema. In answers (`open`), a later release may add values to an enumeration. */
function typeOf(schema: Schema, open: boolean): string {
  const { $ref, type, properties, required = [], items, prefixItems } = schema;
  if ($ref) return $ref.split('/').at(-1) as string;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) {
    const values = schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    return open ? `${values} | (string & {})` : values;
  }
  const union = schema.oneOf ?? schema.anyOf;
  if (union) return union.map((one) => group(typeOf(one, open))).join(' | ');
  if (schema.allOf) return schema.allOf.map((one) => group(typeOf(one, open))).join(' & ');
  if (Array.isArray(type))
    return type.map((one) => typeOf({ ...schema, type: one }, open)).join(' | ');
  if (properties) {
    const fields = Object.entries(properties).map(([name, property]) => {
      const optional = required.includes(name) ? '' : '?';
      const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
      return `${doc(property.description)}${key}${optional}: ${typeOf(property, open)}${optional ? ' | undefined' : ''};`;
    });
    return `{\n${fields.join('\n')}\n}`;
  }
  if (prefixItems) return `[${prefixItems.map((one) => typeOf(one, open)).join(', ')}]`;
  if (type === 'array') return `${group(typeOf(items ?? {}, open))}[]`;
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  return type === 'object' ? 'Record<string, unknown>' : 'unknown';
}

const group = (type: string) => (/[|&]/.test(type) && !type.startsWith('{') ? `(${type})` : type);

/** Indents lines by the brackets that are open. */
function indent(text: string): string {
  let depth = 0;
  const lines = text.split('\n').map((raw) => {
    const line = raw.trim();
    if (line.startsWith('/*') || line.startsWith('//')) return `${'  '.repeat(depth)}${line}`;
    if (/^[}\])]/.test(line)) depth--;
    const indented = `${'  '.repeat(line === '' ? 0 : depth)}${line}`;
    if (/[{[(]$/.test(line)) depth++;
    return indented;
  });
  return lines.join('\n');
}

/** The types for the document that is kept in the repository. */
export const readClientTypes = (): string =>
  clientTypes(JSON.parse(readFileSync(join(ROOT, 'test/contract/openapi.golden.json'), 'utf8')));

if (process.argv[1] === import.meta.filename) writeFileSync(TYPES_FILE, readClientTypes());
