import type { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { addExamples } from './examples.ts';
import { addDescriptions } from './openapi-descriptions.ts';
import { openAnswers } from './openapi-growth.ts';
import { commonHeaders, problemResponses, responsesFor } from './openapi-responses.ts';
import { limitText } from './rate-limit.ts';
import { bodyLimit, bodyType, takesEmptyBody } from './read-request.ts';
import { CONTRACT_VERSION } from './respond.ts';
import { isForModerators, isMutation, isRevalidated, type Route, type Routes } from './route.ts';
import { UUID_V4 } from './schemas.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

/** Semantic version of the document; package managers require one for generated clients. */
const API_VERSION = '1.0.0';

const DESCRIPTION = `One service: optional key-based membership, a moderated public guestbook,
scoped credentials, an updates feed, context packets and cases.

Every answer names the contract \`${CONTRACT_VERSION}\` in \`X-Contract-Version\`. The same document
in OpenAPI 3.0.3 is \`/openapi-3.0.json\`.

Every path that takes GET also takes HEAD: the same answer without its body. Other methods answer 405
with \`Allow\`. A page of any origin may read the answers of anonymous GETs, except HTML pages, and of
nothing else. A successful answer of 1 KiB or more that is no stream is compressed (br, gzip) where
\`Accept-Encoding\` allows it.

Every refusal is a \`Problem\`; act on its \`error.code\`, which \`status\` repeats. Each response lists the
codes that the operation uses. After a 503 or a lost answer, repeat exactly the same request with the
same \`Idempotency-Key\` and body.

A later release may add fields and enumeration values to answers, and types of update: clients ignore
what they do not know. Request bodies take no unknown fields.

Public reads may come from a read replica, which can be some seconds behind. A read with a bearer or a
cookie never does, so callers read their own writes. Writes without a bearer may therefore set a cookie
\`wrote\` for some seconds.`;

const TAGS: Readonly<Record<string, string>> = {
  discovery: 'Capabilities and status',
  operations: 'Health and metrics, for operators',
  guestbook: 'Public notes, reviewed before they appear',
  membership: 'Accounts of clients that made their own keys',
  credentials: 'Scoped bearers for API clients',
  passkeys: 'A further way to open a session, for people',
  updates: 'The events that concern a member, in order',
  account: 'Export and deletion',
  profiles: 'Published profiles of members',
  artifacts: 'Context packets',
  cases: 'Work to claim, submit and review',
  activity: 'The public record',
  search: 'Search in what is public',
  reports: 'Reports to moderators',
  moderation: 'The review queue',
  comments: 'Comments of moderators, for moderators only',
  views: 'Saved views and folds of the review queue',
  transparency: 'How moderators decided, in numbers',
  log: 'The sealed log: signed checkpoints of all events, as hashes',
  disabling: 'Disabled memberships: by leads, and for the member',
  agents: 'Protocols for agents: A2A and MCP',
  documents: 'Documents about the service',
  pages: 'The pages for people',
};

/**
 * The OpenAPI 3.1 document, from the route table. It uses the schemas that validate requests, so it
 * cannot differ from the service; its answers are open to what a later release may add. `notice` precedes the description.
 */
export function openApiDocument(
  routes: readonly Routes[],
  baseUrl: string,
  notice = '',
): OpenApiDocument {
  const document = openAnswers(strictOpenApiDocument(routes, baseUrl));
  addDescriptions(document);
  if (notice) document.info.description = `${notice}\n\n${document.info.description}`;
  return document;
}

/** The document of this release alone, whose answers are closed; tests check responses by it. */
export function strictOpenApiDocument(routes: readonly Routes[], baseUrl: string): OpenApiDocument {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const used = new Set<string>();
  for (const { contract } of routes)
    for (const [id, route] of Object.entries(contract)) {
      used.add(route.tag);
      const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
      paths[path] = {
        ...paths[path],
        [route.method.toLowerCase()]: operationOf(id, route, baseUrl),
      };
    }
  const document = createDocument(
    {
      openapi: '3.1.0',
      info: {
        title: 'Membership, guestbook and discovery service',
        version: API_VERSION,
        description: DESCRIPTION,
      },
      servers: [{ url: baseUrl }],
      tags: [...used].sort().map((name) => ({ name, description: TAGS[name] ?? name })),
      paths: paths as ZodOpenApiPathsObject,
      components: {
        securitySchemes: SECURITY,
        headers: commonHeaders as never,
        responses: problemResponses(),
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

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_<credential_id>.<credential_secret>',
    description: 'A scoped credential that the client made with POST /api/v1/credentials.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-ServiceSession',
    description: "A member's browser session, from POST /api/membership/login.",
  },
  moderator: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'mod_<moderator_id>.<secret>',
    description: "A moderator's token, from the operator.",
  },
  moderatorSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-ServiceModerator',
    description: "A moderator's browser session, from POST /api/moderation/session.",
  },
} as const;

function securityOf({ access, checksSession }: Route): Record<string, string[]>[] {
  if (access === 'public') return [];
  if (access === 'session' || checksSession) return [{ session: [] }];
  if (access === 'session?') return [{}, { session: [] }];
  if (access === 'bearer') return [{ bearer: [] }];
  if ('roles' in access) return [{ moderator: [] }, { moderatorSession: [] }];
  return [{ bearer: [access.scope] }];
}

function operationOf(id: string, route: Route, baseUrl: string): ZodOpenApiOperationObject {
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
    responses: responsesFor(route),
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
