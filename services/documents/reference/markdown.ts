import type { OpenApiDocument } from '../../../platform/http/openapi.ts';
import {
  type Media,
  nameOf,
  type Operation,
  operationsOf,
  type Parameter,
  type ReferenceDocument,
  type ResponseObject,
  type Schema,
  toReferenceDocument,
} from './document-shape.ts';
import { errorCodes, errorCodesOf, meaningOf, resolveResponse } from './errors.ts';

/** The API reference in Markdown: an overview, and a page for each tag, the schemas and the errors. */
export interface ReferenceMarkdown {
  overview: string;
  pages: ReadonlyMap<string, string>;
}

export function referenceMarkdown(openApi: OpenApiDocument, baseUrl: string): ReferenceMarkdown {
  const document = toReferenceDocument(openApi);
  const byTag = Map.groupBy(operationsOf(document), ({ tags: [tag = ''] }) => tag);
  const pages = new Map<string, string>();
  for (const [tag, operations] of byTag) {
    const about = document.tags.find(({ name }) => name === tag)?.description ?? '';
    const sections = operations.map((operation) => operationText(operation, document));
    pages.set(tag, [`# ${tag}`, `${about}.`, ...sections].join('\n\n'));
  }
  const schemas = Object.entries(document.components.schemas);
  const isEvent = ([name]: [string, Schema]) => /Event$/.test(name);
  pages.set(
    'schemas',
    schemaPage(
      'schemas',
      schemas.filter((one) => !isEvent(one)),
    ),
  );
  pages.set('events', schemaPage('events', schemas.filter(isEvent)));
  pages.set(
    'errors',
    [
      '# errors',
      errorCodesOf(document)
        .map((code) => `- \`${code}\`: ${meaningOf(code)}`)
        .join('\n'),
    ].join('\n\n'),
  );
  return { overview: overviewText(document, byTag, baseUrl), pages };
}

function overviewText(
  { info, tags }: ReferenceDocument,
  byTag: ReadonlyMap<string, readonly Operation[]>,
  baseUrl: string,
): string {
  const lists = [...byTag].map(([tag, operations]) => {
    const about = tags.find(({ name }) => name === tag)?.description ?? '';
    const lines = operations.map(
      ({ method, path, summary }) => `- \`${method} ${path}\`: ${summary}`,
    );
    return `## [${tag}](${baseUrl}/docs/${tag})\n\n${about}.\n\n${lines.join('\n')}`;
  });
  const more = ['schemas', 'events', 'errors'].map((name) => `[${name}](${baseUrl}/docs/${name})`);
  return [`# ${info.title}`, info.description, ...lists, `Also: ${more.join(', ')}`].join('\n\n');
}

function operationText(operation: Operation, document: ReferenceDocument): string {
  const {
    operationId,
    method,
    path,
    summary,
    description,
    parameters = [],
    requestBody,
  } = operation;
  const own = parameters.filter(({ in: place }) => place !== 'header');
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolveResponse(response, document)] as const,
  );
  const body = Object.entries(requestBody?.content ?? {}).map(
    ([type, { schema = {} }]) =>
      `Body (\`${type}\`):\n\n${code(expanded(schema, document.components.schemas))}`,
  );
  const replies = responses
    .filter(([, response]) => !errorCodes(response))
    .map(([status, response]) => replyText(status, response));
  const errors = new Set(responses.flatMap(([, response]) => errorCodes(response) ?? []));
  return [
    `## ${method} ${path}`,
    `${summary}. Operation \`${operationId}\`.`,
    description,
    own.map(parameterText).join('\n'),
    ...body,
    replies.join('\n'),
    errors.size > 0 && `Errors: ${[...errors].map((name) => `\`${name}\``).join(', ')}`,
  ]
    .filter(Boolean)
    .join('\n\n');
}

const parameterText = ({
  name,
  in: place,
  required,
  schema,
  description = schema.description,
}: Parameter) =>
  `- \`${name}\` (${place}${required ? ', required' : ''}): \`${typeText(schema)}\`${
    description ? ` ${description}` : ''
  }`;

function replyText(status: string, { description = '', content = {} }: ResponseObject): string {
  const bodies = Object.entries(content).map(([type, { schema }]: [string, Media]) =>
    type === 'application/json' && schema ? `\`${typeText(schema)}\`` : `\`${type}\``,
  );
  return `- ${status}: ${[description, ...bodies].join(' ')}`;
}

function schemaPage(title: string, schemas: readonly [string, Schema][]): string {
  const types = schemas.map(([name, schema]) => {
    const about = schema.description ? `// ${schema.description.replace(/\s+/g, ' ')}\n` : '';
    return `${about}type ${name} = ${typeText(schema)}`;
  });
  return `# ${title}\n\n${code(types.join('\n\n'))}`;
}

const code = (text: string): string => `\`\`\`ts\n${text}\n\`\`\``;

/** A schema in the notation of TypeScript, where a named one is spelled out. */
const expanded = (schema: Schema, named: Record<string, Schema>): string =>
  typeText(schema.$ref === undefined ? schema : (named[nameOf(schema.$ref)] ?? schema));

function typeText(schema: Schema): string {
  const {
    $ref,
    type,
    items,
    prefixItems,
    properties,
    additionalProperties,
    required = [],
  } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const union = schema.anyOf ?? schema.oneOf;
  if (union) return union.map(typeText).join(' | ');
  if (Array.isArray(type))
    return type.map((each) => typeText({ ...schema, type: each })).join(' | ');
  if (prefixItems) return `[${prefixItems.map(typeText).join(', ')}]`;
  if (items)
    return /[ |]/.test(typeText(items)) ? `(${typeText(items)})[]` : `${typeText(items)}[]`;
  if (properties) {
    const fields = Object.entries(properties).map(
      ([name, field]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(field)}`,
    );
    return fields.length > 0 ? `{ ${fields.join('; ')} }` : '{}';
  }
  if (typeof additionalProperties === 'object')
    return `{ [name: string]: ${typeText(additionalProperties)} }`;
  return typeof type === 'string' ? type : 'unknown';
}
