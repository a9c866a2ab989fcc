import type { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiComponentsObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { addExamples } from './examples.ts';
import { addDescriptions, type Glossary } from './openapi-descriptions.ts';
import { openAnswers } from './openapi-growth.ts';
import {
  commonHeaders,
  type ProblemDocuments,
  problemResponses,
  responsesFor,
} from './openapi-responses.ts';
import { limitText } from './rate-limit.ts';
import { bodyLimit, bodyType, takesEmptyBody } from './read-request.ts';
import { isForModerators, isMutation, isRevalidated, type Route, type Routes } from './route.ts';
import { UUID_V4 } from './schemas.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** What the document says beside the routes. */
export interface DocumentWords extends Glossary {
  title: string;
  description: string;
  /** What the routes of a tag are about. */
  tags: Readonly<Record<string, string>>;
  /** How callers prove who they are: `bearer`, `session`, `moderator` and `moderatorSession`. */
  securitySchemes: NonNullable<ZodOpenApiComponentsObject['securitySchemes']>;
  problems: ProblemDocuments;
}

/** Semantic version of the document; package managers require one for generated clients. */
const API_VERSION = '1.0.0';

/**
 * The OpenAPI 3.1 document, from the route table. It uses the schemas that validate requests, so it
 * cannot differ from the service; its answers are open to what a later release may add. `notice` precedes the description.
 */
export function openApiDocument(
  words: DocumentWords,
  routes: readonly Routes[],
  baseUrl: string,
  notice = '',
): OpenApiDocument {
  const document = openAnswers(strictOpenApiDocument(words, routes, baseUrl));
  addDescriptions(document, words);
  if (notice) document.info.description = `${notice}\n\n${document.info.description}`;
  return document;
}

/** The document of this release alone, whose answers are closed; tests check responses by it. */
export function strictOpenApiDocument(
  { title, description, tags, securitySchemes, problems }: DocumentWords,
  routes: readonly Routes[],
  baseUrl: string,
): OpenApiDocument {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const used = new Set<string>();
  for (const { contract } of routes)
    for (const [id, route] of Object.entries(contract)) {
      used.add(route.tag);
      const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
      paths[path] = {
        ...paths[path],
        [route.method.toLowerCase()]: operationOf(id, route, baseUrl, problems),
      };
    }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: { title, version: API_VERSION, description },
      servers: [{ url: baseUrl }],
      tags: [...used].sort().map((name) => ({ name, description: tags[name] ?? name })),
      paths: paths as ZodOpenApiPathsObject,
      components: {
        securitySchemes,
        headers: commonHeaders as never,
        responses: problemResponses(problems),
      },
    },
    { override: withoutNoise },
  );
  addExamples(document, baseUrl);
  return document;
}

/** Drops keywords that restate the type or format; code generators fail on some of them. */
const withoutNoise: NonNullable<CreateDocumentOptions['override']> = ({
  jsonSchema,
  zodSchema,
}) => {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  // `minItems` and `maxItems` already close a tuple.
  if (jsonSchema.items === false) delete jsonSchema.items;
  const { type, format } = zodSchema._zod.def as { type: string; format?: string };
  // Code generators write a decimal number for a constant of the type `number`.
  if (jsonSchema.type === 'number' && Number.isInteger(jsonSchema.const))
    jsonSchema.type = 'integer';
  // Drops the patterns that zod adds beside `format`; patterns of our own schemas stay.
  if (type === 'string' && ['datetime', 'date', 'uuid'].includes(format ?? ''))
    delete jsonSchema.pattern;
};

function securityOf({ access, checksSession }: Route): Record<string, string[]>[] {
  if (access === 'public') return [];
  if (access === 'session' || checksSession) return [{ session: [] }];
  if (access === 'session?') return [{}, { session: [] }];
  if (access === 'bearer') return [{ bearer: [] }];
  if ('roles' in access) return [{ moderator: [] }, { moderatorSession: [] }];
  return [{ bearer: [access.scope] }];
}

function operationOf(
  id: string,
  route: Route,
  baseUrl: string,
  problems: ProblemDocuments,
): ZodOpenApiOperationObject {
  const { access } = route;
  const needs =
    typeof access !== 'object'
      ? ''
      : 'scope' in access
        ? `Needs the scope \`${access.scope}\`.`
        : `For the roles ${access.roles.join(', ')}.`;
  const limits = (route.limits ?? []).map((limit) => `\`${limit.kind}\`: ${limitText(limit)}`);
  const limited = limits.length > 0 ? `Limits: ${limits.join('; ')}.` : '';
  const description = [route.description, limited, needs].filter(Boolean).join('\n\n');
  return {
    operationId: id,
    summary: route.summary,
    ...(description ? { description } : {}),
    tags: [route.tag],
    security: securityOf(route),
    requestParams: {
      ...(route.params ? { path: route.params } : {}),
      ...(route.query ? { query: route.query } : {}),
    },
    parameters: headersOf(route, baseUrl),
    ...(route.body
      ? {
          requestBody: {
            required: !takesEmptyBody(route),
            description: `At most ${bodyLimit(route)} bytes`,
            content: { [bodyType(route)]: { schema: route.body as z.ZodType } },
          },
        }
      : {}),
    responses: responsesFor(route, problems),
  } as ZodOpenApiOperationObject;
}

function headersOf(route: Route, baseUrl: string): object[] {
  const header = (name: string, required: boolean, schema: object, description: string) => ({
    in: 'header',
    name,
    required,
    schema,
    description,
  });
  return [
    ...(route.idempotency
      ? [
          header(
            'Idempotency-Key',
            route.idempotency === 'required',
            { type: 'string', pattern: UUID_V4.source },
            'A UUIDv4 that names this write, bare or in double quotes. An exact repeat with the same key answers the receipt.',
          ),
        ]
      : []),
    ...(route.origin === 'cookie' && isMutation(route)
      ? [
          header(
            'Origin',
            true,
            { type: 'string', examples: [baseUrl] },
            `The address of this service: \`${baseUrl}\`. Browsers set it themselves.`,
          ),
          header(
            'Sec-Fetch-Site',
            false,
            { type: 'string', examples: ['same-origin'] },
            '`same-origin` where it is sent. Browsers set it themselves.',
          ),
        ]
      : []),
    ...(isForModerators(route)
      ? [
          header(
            'Expected-Moderator',
            false,
            { type: 'string', format: 'uuid' },
            'The moderator that the caller expects to be; 401 if the session or token is of another moderator.',
          ),
        ]
      : []),
    ...(isRevalidated(route)
      ? [header('If-None-Match', false, { type: 'string' }, 'The ETag of an earlier answer.')]
      : []),
    ...Object.entries(route.requestHeaders ?? {}).map(([name, { description, schema }]) =>
      header(name, false, schema, description),
    ),
  ];
}
