import { hash } from 'node:crypto';

interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  examples?: unknown[];
  example?: unknown;
  format?: string;
  pattern?: string;
  minLength?: number;
  minimum?: number;
  minItems?: number;
  items?: Schema;
  prefixItems?: Schema[];
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}

type Schemas = Readonly<Record<string, Schema>>;

const HEX_64 = '^[0-9a-f]{64}$';

const EXAMPLE_ID = '7d1c43a1-2b8c-4b1e-9a2e-0a1b2c3d4e5f';

const BY_FORMAT: Readonly<Record<string, string>> = {
  uuid: EXAMPLE_ID,
  date: '2026-09-12',
  'date-time': '2026-09-12T08:30:00.000Z',
  uri: 'https://example.org/',
};

/** A value that the schema accepts: the schema's example if it has one, else every property. */
export function exampleValue(schema: Schema, schemas: Schemas, depth = 0, name = ''): unknown {
  if (schema.$ref)
    return exampleValue(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas, depth, name);
  if (schema.examples?.length) return schema.examples[0];
  if (schema.example !== undefined) return schema.example;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.allOf)
    return Object.assign(
      {},
      ...schema.allOf.map((part) => exampleValue(part, schemas, depth, name)),
    );
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return exampleValue(choice, schemas, depth, name);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, property]) => [
          key,
          exampleValue(property, schemas, depth + 1, key),
        ]),
      );
    case 'array': {
      if (schema.prefixItems)
        return schema.prefixItems.map((item) => exampleValue(item, schemas, depth + 1));
      if (!schema.items || depth > 6) return [];
      const item = exampleValue(schema.items, schemas, depth + 1);
      return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => item);
    }
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      // Derive a key from its field name, because the service requires different keys.
      if (schema.pattern === HEX_64) return hash('sha256', name);
      return BY_FORMAT[schema.format ?? ''] ?? 'x'.repeat(Math.max(1, schema.minLength ?? 1));
  }
}
