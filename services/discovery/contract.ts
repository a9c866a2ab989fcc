import { z } from 'zod';
import { defineContract } from '../../platform/http/route.ts';
import { LINK_TO_DESCRIPTIONS } from './service-links.ts';

const Capability = z
  .object({
    id: z.string(),
    state: z.enum(['available', 'disabled', 'planned']),
    method: z.string().optional(),
    path: z.string().optional(),
    contract: z.string().optional(),
  })
  .meta({ id: 'Capability' });

const Discovery = z
  .object({
    schema: z.literal('service.discovery.v1'),
    name: z.string(),
    origin: z.url(),
    description: z.string().optional(),
    interfaces: z.record(z.string(), z.string()),
    first_useful_action: z.object({
      method: z.string(),
      path: z.string(),
      purpose: z.string(),
      follow_up: z.record(z.string(), z.unknown()).optional(),
    }),
    capabilities: z.array(Capability),
    identity: z.record(z.string(), z.unknown()),
    limitations: z.array(z.string()),
  })
  .meta({ id: 'Discovery' });

const Status = z
  .object({
    schema: z.literal('service.status.v1'),
    service: z.literal('responding'),
    storage: z.literal('not_checked'),
    admission: z.object({ membership: z.boolean(), notes: z.boolean() }),
    collaboration: z.literal('planned'),
    inference_required: z.literal(false),
  })
  .meta({ id: 'Status' });

const Probe = z
  .object({
    status: z.string(),
    seal: z
      .literal('refused')
      .optional()
      .meta({ description: 'The sealed log differs from its tree, so nothing is signed' }),
  })
  .meta({ id: 'Probe' });

export const discoveryContract = defineContract({
  'discovery.get': {
    method: 'GET',
    path: '/api/v1/discovery',
    summary: 'What this service offers, by configuration',
    tag: 'discovery',
    access: 'public',
    replies: {
      200: {
        description: 'Interfaces and capabilities',
        body: Discovery,
        headers: LINK_TO_DESCRIPTIONS,
      },
    },
    problems: [],
  },
  'status.get': {
    method: 'GET',
    path: '/api/v1/status',
    summary: 'Whether the service responds and what it admits',
    description: 'Answers 503 where the storage sample, taken in the background, says so.',
    tag: 'discovery',
    access: 'public',
    replies: { 200: { description: 'Responding', body: Status } },
    problems: ['storage_unavailable'],
  },
  'operations.livez': {
    method: 'GET',
    path: '/livez',
    summary: 'The process runs',
    tag: 'operations',
    access: 'public',
    cacheControl: 'no-store',
    replies: { 200: { description: 'Running', body: Probe } },
    problems: [],
  },
  'operations.readyz': {
    method: 'GET',
    path: '/readyz',
    summary: 'The database answers and its migrations are current',
    description:
      'Answers 503 while the process drains, too. With `for=proxy` it stays 200 during an outage of ' +
      'a database that the process has reached before, so that a proxy passes on the 503 of this ' +
      'service instead of an answer of its own.',
    tag: 'operations',
    access: 'public',
    cacheControl: 'no-store',
    query: z.strictObject({ for: z.enum(['proxy']).optional() }),
    replies: { 200: { description: 'Ready', body: Probe } },
    problems: ['storage_unavailable'],
  },
});
