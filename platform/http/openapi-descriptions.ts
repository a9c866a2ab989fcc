import type { createDocument } from 'zod-openapi';
import { GLOSSARY, SCHEMA_GLOSSARY } from './glossary.ts';

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

/** Describes parameters, properties and schemas that have no description, in place. */
export function addDescriptions(document: OpenApiDocument): void {
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
    for (const parameter of parameters) parameter.description ??= GLOSSARY[parameter.name] ?? '';
    describe(requestBody, `The request body of: ${summary}.`);
    for (const response of Object.values(responses))
      describe(response, `The answer to: ${summary}.`);
  }
  for (const [name, schema] of Object.entries(schemas)) {
    describeProperties(schema);
    schema.description ??= describedByName(name, schema);
  }
}

function describeProperties(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const { properties } = value as Schema;
  if (typeof properties === 'object' && !Array.isArray(properties))
    for (const [name, property] of Object.entries(properties)) {
      // A reference is described by the schema that it names.
      if (!property.$ref && GLOSSARY[name]) property.description ??= GLOSSARY[name];
    }
  for (const [key, part] of Object.entries(value))
    if (!['example', 'examples', 'default'].includes(key)) describeProperties(part);
}

/** A type of update is described by its constant, a copy for answers as its original. */
function describedByName(name: string, { properties }: Schema): string {
  const type = properties?.type?.const;
  if (typeof type === 'string' && name.endsWith('Event'))
    return `An update of the type \`${type}\`.`;
  const exported = /^Exported([A-Z]\w*)$/.exec(name)?.[1];
  if (exported)
    return `${exported.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')} of the member, as exported.`;
  return SCHEMA_GLOSSARY[name.replace(/Output$/, '')] ?? '';
}
