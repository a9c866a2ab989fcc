import type { z } from 'zod';
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { addExamples } from './examples.ts';
import { commonHeaders, responsesOf } from './openapi-responses.ts';
import { limitOf } from './read-request.ts';
import { CONTRACT_VERSION } from './respond.ts';
import {
  type Access,
  type Feature,
  isForModerators,
  isMutation,
  isRevalidated,
  type Route,
} from './route.ts';
import { UUID_V4 } from './schemas.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

const DESCRIPTION = `One service: optional key-based membership, a moderated public guestbook,
scoped credentials, an updates feed, context packets and cases.

HEAD works wherever GET does, and a method that a path does not take answers 405 with \`Allow\`.
A page of any origin may read what an anonymous GET answers, its refusals too, but for pages in HTML;
nothing else.
A successful answer of 1 KiB or more is compressed (br, gzip) where \`Accept-Encoding\` asks for it, but for
streams. The \`status\` of an error repeats its \`error.code\`. After a 503 or a lost
answer repeat exactly the same request, with the same \`Idempotency-Key\` and body.`;

const TAGS: Readonly<Record<string, string>> = {
  discovery: 'What there is, and whether it responds',
  operations: 'For whoever runs the service',
  guestbook: 'Public notes, reviewed before they appear',
  membership: 'Accounts of clients that made their own keys',
  credentials: 'Scoped bearers for API clients',
  updates: 'Every event that concerns a member, in order',
  account: 'Export and deletion',
  profiles: 'Published profiles of members',
  artifacts: 'Context packets',
  cases: 'Work to claim, submit and review',
  activity: 'The public record',
  reports: 'Word to the moderators',
  moderation: 'The review queue',
  agents: 'The protocols of agents: A2A and MCP',
  documents: 'Documents about the service',
  pages: 'The pages for people',
};

/** OpenAPI 3.1 of the route table: from the schemas that validate requests, so that it cannot differ. */
export function openApiDocument(features: readonly Feature[], baseUrl: string): OpenApiDocument {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const used = new Set<string>();
  for (const { contract } of features)
    for (const [id, route] of Object.entries(contract)) {
      used.add(route.tag);
      const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
      paths[path] = {
        ...paths[path],
        [route.method.toLowerCase()]: operationOf(id, route, baseUrl),
      };
    }
  const document = createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Membership, guestbook and discovery service',
      version: CONTRACT_VERSION,
      description: DESCRIPTION,
      license: { name: 'The policy of this instance', url: `${baseUrl}/policy.json` },
    },
    servers: [{ url: baseUrl }],
    tags: [...used].sort().map((name) => ({ name, description: TAGS[name] ?? name })),
    paths: paths as ZodOpenApiPathsObject,
    components: { securitySchemes: SECURITY, headers: commonHeaders as never },
  });
  addExamples(document);
  addHeads(document);
  shareResponses(document);
  return document;
}

/** Beside each GET a HEAD: the same question, and of each answer all but the body. */
function addHeads(document: OpenApiDocument): void {
  for (const item of Object.values(document.paths ?? {})) {
    const { get } = item;
    if (!get) continue;
    const responses = Object.entries(get.responses ?? {}).map(([status, answer]) => {
      const { content: _, ...bodiless } = answer as { content?: object };
      return [status, bodiless];
    });
    item.head = {
      ...get,
      operationId: `${get.operationId}.head`,
      summary: `${get.summary}: the headers alone`,
      responses: Object.fromEntries(responses),
    };
  }
}

/** Answers that several operations give stand once, under the number and the words of their codes. */
function shareResponses(document: OpenApiDocument): void {
  const shared: Record<string, object> = {};
  for (const item of Object.values(document.paths ?? {}))
    for (const [method, operation] of Object.entries(
      item as Record<string, { responses: Responses }>,
    ))
      for (const [status, response] of Object.entries(operation.responses)) {
        if (Number(status) < 400) continue;
        const bodiless = method === 'head' ? ['head'] : [];
        const text = response.description.toLowerCase();
        const words = [...(text.match(/[a-z_]+/g) ?? []), ...bodiless];
        // The same codes may come with other headers or a smaller body.
        const variants = [words, [...words, 'b'], [...words, 'c'], [...words, 'd']];
        const whole = JSON.stringify(response);
        const name = variants
          .map((variant) => [status, ...variant].join('-'))
          .find((variant) => !shared[variant] || JSON.stringify(shared[variant]) === whole);
        if (!name) continue;
        shared[name] = response;
        operation.responses[status] = { $ref: `#/components/responses/${name}` } as never;
      }
  document.components = { ...document.components, responses: shared } as never;
}

type Responses = Record<string, { description: string }>;

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

function securityOf(access: Access): Record<string, string[]>[] {
  if (access === 'public') return [];
  if (access === 'session') return [{ session: [] }];
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
  const description = [route.description, needs].filter(Boolean).join('\n\n');
  return {
    operationId: id,
    summary: route.summary,
    ...(description ? { description } : {}),
    tags: [route.tag],
    security: securityOf(access),
    requestParams: {
      ...(route.params ? { path: route.params } : {}),
      ...(route.query ? { query: route.query } : {}),
    },
    parameters: headersOf(route, baseUrl),
    ...(route.body
      ? {
          requestBody: {
            required: true,
            description: `At most ${limitOf(route)} bytes`,
            content: { 'application/json': { schema: route.body as z.ZodType } },
          },
        }
      : {}),
    responses: responsesOf(route),
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
            { type: 'string', format: 'uuid', pattern: UUID_V4.source },
            'Names this operation. An exact repeat with the same key is answered the receipt.',
          ),
        ]
      : []),
    ...(route.origin === 'cookie' && isMutation(route)
      ? [
          header(
            'Origin',
            true,
            { type: 'string', const: baseUrl },
            'The address of this service.',
          ),
          header('Sec-Fetch-Site', false, { const: 'same-origin' }, 'As browsers send it.'),
        ]
      : []),
    ...(isForModerators(route)
      ? [
          header(
            'Expected-Moderator',
            false,
            { type: 'string', format: 'uuid' },
            'Whom the caller takes itself for: 401 where the session or token is of another.',
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
