import { z } from 'zod';
import { defineContract } from '../../../platform/http/route.ts';
import { WRITES_PER_DAY } from '../../../platform/limits/write-budget.ts';

// The description keeps this an `anyOf`: code generators do not support a list of two types.
const Id = z.union([z.string().describe('As sent'), z.number()]);

/** The id of a call. A larger number would lose precision and could not be returned unchanged. */
export const CallId = z.union([
  z.string().max(256),
  z.number().min(Number.MIN_SAFE_INTEGER).max(Number.MAX_SAFE_INTEGER),
]);

const Call = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: CallId,
    method: z.string(),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({
    id: 'A2aRequest',
    description:
      'A call of A2A 1.0 over JSON-RPC, most often `SendMessage`. Anything else is answered by an ' +
      '`A2aFailure` with the status 200, as JSON-RPC has it.',
    examples: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: {
          message: {
            messageId: '0d0c9a52-31c2-4a7b-8f43-3d1e1a9a4f10',
            role: 'ROLE_USER',
            parts: [{ data: { operation: 'case.list', input: { state: 'open', limit: 10 } } }],
          },
        },
      },
    ],
  });

const Failure = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([...Id.options, z.null()]),
    error: z.object({
      code: z.int(),
      message: z.string(),
      data: z.array(z.record(z.string(), z.unknown())),
    }),
  })
  .meta({ id: 'A2aFailure' });

const Success = z
  .object({ jsonrpc: z.literal('2.0'), id: Id, result: z.record(z.string(), z.unknown()) })
  .meta({ id: 'A2aSuccess' });

const Reply = z.union([Success, Failure]).meta({ id: 'A2aReply' });

const Card = z
  .looseObject({
    name: z.string(),
    description: z.string(),
    version: z.string(),
    supportedInterfaces: z.array(
      z.object({
        url: z.string(),
        protocolBinding: z.literal('JSONRPC'),
        protocolVersion: z.literal('1.0'),
      }),
    ),
    capabilities: z.record(z.string(), z.literal(false)),
    skills: z.array(
      z.looseObject({ id: z.string(), name: z.string(), examples: z.array(z.string()) }),
    ),
  })
  .meta({ id: 'AgentCard' });

const failure = (description: string) => ({ description, body: Failure });

export const a2aContract = defineContract({
  'a2a.call': {
    method: 'POST',
    path: '/a2a',
    summary: 'Operations of this API as messages of A2A 1.0 (JSON-RPC binding)',
    description:
      'Send the header `A2A-Version: 1.0` and one data part `{"operation", "idempotency_key", ' +
      '"input"}`: an `operationId` of this document, a UUIDv4 for writes, and path, query and body ' +
      'fields beside each other. Receipts are those of the HTTP routes: a retry may cross over. ' +
      'Errors are JSON-RPC errors, with the HTTP number in their details. The address with a slash at ' +
      'its end answers alike.',
    tag: 'agents',
    access: 'bearer',
    transport: true,
    requestHeaders: {
      'A2A-Version': {
        description: 'Also taken from the query. Without it: -32009.',
        schema: { type: 'string', examples: ['1.0'] },
      },
    },
    bodyLimit: 320 * 1024,
    body: Call,
    // Counted by the operation that a message names, where it uses the budget.
    limits: [WRITES_PER_DAY],
    replies: {
      200: {
        description: 'A result, or an error of the protocol',
        body: Reply,
      },
      401: {
        ...failure('-32041'),
        headers: { 'WWW-Authenticate': '`Bearer`, with `error` after a bearer that was sent' },
      },
      413: failure('-32600: larger than 320 KiB, or than the operation takes'),
      415: failure('-32005: not application/json'),
      429: { ...failure('-32042'), headers: { 'Retry-After': 'Seconds to wait' } },
      503: failure('-32053'),
    },
    problems: [],
  },
  'a2a.card': {
    method: 'GET',
    path: '/.well-known/agent-card.json',
    summary: 'The A2A agent card',
    tag: 'agents',
    access: 'public',
    unknownQuery: 'ignored',
    requestHeaders: {
      'If-Modified-Since': {
        description: 'The Last-Modified of an earlier answer, where no ETag was kept.',
        schema: { type: 'string' },
      },
    },
    replies: {
      200: {
        description: 'The card, in ProtoJSON',
        body: Card,
        headers: { 'Last-Modified': 'When it last said something else' },
      },
    },
    problems: [],
  },
});
