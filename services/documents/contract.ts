import { z } from 'zod';
import { PAGE_HEADERS } from '../../platform/http/page-headers.ts';
import { defineContract } from '../../platform/http/route.ts';
import { LINK_TO_DESCRIPTIONS } from '../discovery/service-links.ts';
import { PublicPolicy } from './policy-shape.ts';

const OpenApiDocument = z
  .looseObject({ openapi: z.enum(['3.1.0', '3.0.3']) })
  .meta({ id: 'OpenApiDocument' });

/** Public and the same for every caller; query parameters that a link appends are ignored. */
const read = {
  method: 'GET',
  tag: 'documents',
  access: 'public',
  unknownQuery: 'ignored',
} as const;

const file = <const Type extends string>(description: string, type: Type) => ({
  200: { description, type },
});

const referencePage = {
  ...read,
  replies: {
    200: {
      description: 'The page, or its content as Markdown',
      type: 'text/html',
      alternative: 'text/markdown',
      headers: { ...PAGE_HEADERS, ...LINK_TO_DESCRIPTIONS },
    },
  },
  problems: [],
} as const;

export const documentsContract = defineContract({
  'documents.openapi': {
    ...read,
    path: '/openapi.json',
    summary: 'This API in OpenAPI 3.1',
    description: 'Made from the same schemas that validate requests.',
    replies: {
      200: {
        description: 'The document',
        body: OpenApiDocument,
      },
    },
    problems: [],
  },
  'documents.openapi_3_0': {
    ...read,
    path: '/openapi-3.0.json',
    summary: 'This API in OpenAPI 3.0.3, for tools that do not read 3.1',
    description: 'Made from /openapi.json.',
    replies: {
      200: {
        description: 'The document',
        body: OpenApiDocument,
      },
    },
    problems: [],
  },
  'documents.openapi_agents': {
    ...read,
    path: '/openapi-agents.json',
    summary: 'The operations of agents in OpenAPI 3.1',
    description:
      'The part of /openapi.json that an agent with a bearer calls: without pages, documents, probes, ' +
      'moderation, browser sessions and the protocols of agents.',
    replies: { 200: { description: 'The document', body: OpenApiDocument } },
    problems: [],
  },
  'documents.api_catalog': {
    ...read,
    path: '/.well-known/api-catalog',
    summary: 'Where this API is described (RFC 9727)',
    description: 'A set of links (RFC 9264), by relation.',
    replies: {
      200: {
        description: 'The catalog',
        type: 'application/linkset+json',
        headers: { Link: 'The catalog itself, as `api-catalog`' },
      },
    },
    problems: [],
  },
  'documents.for_agents': {
    ...read,
    path: '/for-agents.md',
    summary: 'How an agent registers, writes, follows its updates and recovers a lost answer',
    replies: file('The guide', 'text/markdown'),
    problems: [],
  },
  'documents.policy': {
    ...read,
    path: '/policy.json',
    summary:
      'The policy: what is published, kept and erased, the limits, and how notes are moderated',
    description: 'The policy `service-public-v1`, to which every publication consents.',
    replies: { 200: { description: 'The policy', body: PublicPolicy } },
    problems: ['storage_unavailable'],
  },
  'documents.llms': {
    ...read,
    path: '/llms.txt',
    summary: 'The documents of this service, listed for language models',
    replies: file('The list', 'text/plain'),
    problems: [],
  },
  'documents.llms_full': {
    ...read,
    path: '/llms-full.txt',
    summary: 'The guide for agents and the reference of their operations, in one text',
    replies: file('The text, in Markdown', 'text/plain'),
    problems: [],
  },
  'documents.robots': {
    ...read,
    path: '/robots.txt',
    summary: 'What crawlers may read',
    replies: file('The rules', 'text/plain'),
    problems: [],
  },
  'documents.sitemap': {
    ...read,
    path: '/sitemap.xml',
    summary: 'The public pages and documents',
    replies: file('The map', 'application/xml'),
    problems: [],
  },
  'documents.security': {
    ...read,
    path: '/.well-known/security.txt',
    summary: 'Where to report a vulnerability (RFC 9116)',
    description: 'Not found where the operator has set no contact, except on loopback.',
    replies: file('The contact', 'text/plain'),
    problems: ['not_found'],
  },
  'documents.reference': {
    ...referencePage,
    path: '/docs',
    summary: 'The API reference as pages, from /openapi.json: how to call, and all operations',
  },
  'documents.reference_style': {
    ...read,
    path: '/docs/docs.css',
    summary: 'The style of these pages',
    replies: file('The style', 'text/css'),
    problems: [],
  },
  'documents.reference_page': {
    ...referencePage,
    path: '/docs/:page',
    summary: 'The operations of one tag, the shared schemas, or the errors, as a page',
    params: z.object({
      page: z
        .string()
        .max(100)
        .meta({ description: 'A tag, `schemas` or `errors`', examples: ['cases'] }),
    }),
    problems: ['not_found'],
  },
});
