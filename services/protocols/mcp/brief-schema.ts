/** A JSON Schema, as zod writes it. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  description?: string;
}

/** Objects below this depth are listed without their fields. */
const MAX_DEPTH = 3;

/** A tool's error: the body of an HTTP problem. */
const ERROR: Readonly<Record<string, Schema>> = {
  status: { type: 'string', description: 'Only of an error: its code' },
  error: {
    type: 'object',
    description: 'Only of an error',
    properties: { code: { type: 'string' }, message: { type: 'string' } },
  },
};

/**
 * Shortens the schema of a tool's result to names and types, because many hosts put the list of all
 * tools before a model. It also admits the body of an error: clients of TypeScript SDK 1 validate
 * that by the same schema. Results are open, as are the answers of the HTTP API.
 */
export function briefSchema(full: Schema): Record<string, unknown> {
  const defs = full.$defs ?? {};

  function brief(schema: Schema, depth: number): Schema {
    const { $ref, type, properties, items, description } = schema;
    if ($ref !== undefined) return brief(defs[$ref.split('/').at(-1) ?? ''] ?? {}, depth);
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return union(alternatives.map((one) => brief(one, depth)));
    const named = type === undefined ? {} : { type };
    if (schema.enum) return { ...named, enum: schema.enum };
    const values = items ? { items: brief(items, depth) } : {};
    const hasFields = properties && depth < MAX_DEPTH && Object.keys(properties).length > 0;
    const fields = hasFields ? { properties: eachOf(properties, depth + 1) } : {};
    const text = depth === 1 && description !== undefined ? { description } : {};
    return { ...named, ...fields, ...values, ...text };
  }

  const eachOf = (properties: Record<string, Schema>, depth: number) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, brief(schema, depth)]),
    );

  return { type: 'object', properties: { ...brief(full, 0).properties, ...ERROR } };
}

/** Drops the patterns that repeat a `format`, and the dialect, which is the protocol's default. */
export function briefInput(full: Record<string, unknown>): Record<string, unknown> {
  const { $schema: _, properties = {}, ...rest } = full as Schema & { $schema?: string };
  const withoutPattern = ({ pattern, ...field }: Schema & { pattern?: string; format?: string }) =>
    pattern === undefined || field.format ? field : { pattern, ...field };
  const fields = Object.entries(properties).map(([name, field]) => [name, withoutPattern(field)]);
  return { ...rest, properties: Object.fromEntries(fields) };
}

/** A value or null, in one schema; any value, where the alternatives differ otherwise. */
function union(alternatives: readonly Schema[]): Schema {
  const [only, ...others] = alternatives.filter(({ type }) => type !== 'null');
  if (!only || others.length > 0 || typeof only.type !== 'string' || only.enum) return {};
  return { ...only, type: [only.type, 'null'] };
}
