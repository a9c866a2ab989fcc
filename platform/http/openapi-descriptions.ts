import type { createDocument } from 'zod-openapi';

type OpenApiDocument = ReturnType<typeof createDocument>;

interface Schema {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema & { const?: unknown }>;
  [keyword: string]: unknown;
}

interface Part {
  content?: Record<string, { schema?: Schema }>;
}

interface Operation {
  summary: string;
  parameters?: { name: string; description?: string }[];
  requestBody?: Part;
  responses: Record<string, Part>;
}

export interface Glossary {
  /** What properties and parameters mean, by their name. */
  names: Readonly<Record<string, string>>;
  /** What schemas mean, by their id. */
  schemas: Readonly<Record<string, string>>;
}

/** Describes parameters, properties and schemas that have no description, in place. */
export function addDescriptions(document: OpenApiDocument, glossary: Glossary): void {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const operations = Object.values(document.paths ?? {}).flatMap(
    (item) => Object.values(item) as Operation[],
  );
  const describe = ({ content }: Part = {}, text: string) => {
    const name = content?.['application/json']?.schema?.$ref?.split('/').at(-1) ?? '';
    const schema = schemas[name];
    if (schema) schema.description ??= text;
  };
  for (const { summary, parameters = [], requestBody, responses } of operations) {
    for (const parameter of parameters)
      parameter.description ??= glossary.names[parameter.name] ?? '';
    describe(requestBody, `The request body of: ${summary}.`);
    for (const response of Object.values(responses))
      describe(response, `The answer to: ${summary}.`);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    describeProperties(schema, glossary.names);
    schema.description ??= describedByName(name, schema, glossary.schemas);
  }
}

function describeProperties(value: unknown, names: Glossary['names']): void {
  if (typeof value !== 'object' || value === null) return;
  const { properties } = value as Schema;
  if (typeof properties === 'object' && !Array.isArray(properties))
    for (const [name, property] of Object.entries(properties)) {
      // A reference is described by the schema that it names.
      if (!property.$ref && names[name]) property.description ??= names[name];
    }
  for (const [key, part] of Object.entries(value))
    if (!['example', 'examples', 'default'].includes(key)) describeProperties(part, names);
}

/** A type of update is described by its constant, a copy for answers as its original. */
function describedByName(
  name: string,
  { properties }: Schema,
  schemas: Glossary['schemas'],
): string {
  const type = properties?.type?.const;
  if (typeof type === 'string' && name.endsWith('Event'))
    return `An update of the type \`${type}\`.`;
  const exported = /^Exported([A-Z]\w*)$/.exec(name)?.[1];
  if (exported)
    return `${exported.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')} of the member, as exported.`;
  return schemas[name.replace(/Output$/, '')] ?? '';
}
