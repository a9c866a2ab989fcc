import * as platform from '../../platform/http/openapi.ts';
import type { Routes } from '../../platform/http/route.ts';
import { CONTRACT_VERSION } from '../../platform/version.ts';
import { GLOSSARY, SCHEMA_GLOSSARY } from './glossary.ts';
import { PROBLEM_DOCUMENTS } from './problems.ts';

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

const WORDS: platform.DocumentWords = {
  title: 'Membership, guestbook and discovery service',
  description: DESCRIPTION,
  tags: TAGS,
  securitySchemes: SECURITY,
  names: GLOSSARY,
  schemas: SCHEMA_GLOSSARY,
  problems: PROBLEM_DOCUMENTS,
};

/** The OpenAPI document of this service; `notice` precedes the description. */
export const openApiDocument = (routes: readonly Routes[], baseUrl: string, notice?: string) =>
  platform.openApiDocument(WORDS, routes, baseUrl, notice);

/** The document of this release alone, whose answers are closed; tests check responses by it. */
export const strictOpenApiDocument = (routes: readonly Routes[], baseUrl: string) =>
  platform.strictOpenApiDocument(WORDS, routes, baseUrl);
