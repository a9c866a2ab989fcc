import type { Config } from '../config.ts';
import { refuse } from '../eventstore/decider.ts';
import type { Handlers } from '../http/route.ts';
import type { Readiness } from '../readiness.ts';
import type { discoveryContract } from './contract.ts';

export interface DiscoveryParts {
  config: Pick<Config, 'a2aEnabled' | 'apiOpen' | 'baseUrl' | 'guestbookOpen' | 'membershipOpen'>;
  readiness: Readiness;
}

const NO_STORE = { 'cache-control': 'no-store' };

export function discoveryHandlers({
  config,
  readiness,
}: DiscoveryParts): Handlers<typeof discoveryContract> {
  const { baseUrl } = config;
  const open = (on: boolean) => (on ? 'available' : 'disabled') as 'available' | 'disabled';
  return {
    'discovery.get': async () => ({
      status: 200,
      body: {
        schema: 'service.discovery.v1',
        name: 'Membership, guestbook and discovery service',
        origin: baseUrl,
        description:
          'Optional key-based membership and a moderated public guestbook, on an event log.',
        interfaces: { guestbook: `${baseUrl}/api/guestbook`, status: `${baseUrl}/api/v1/status` },
        first_useful_action: {
          method: 'GET',
          path: '/api/guestbook',
          purpose: 'Read the notes that were approved.',
        },
        capabilities: [
          { id: 'guestbook.read', state: 'available', method: 'GET', path: '/api/guestbook' },
          {
            id: 'guestbook.submit',
            state: open(config.guestbookOpen),
            method: 'POST',
            path: '/api/guestbook',
          },
          {
            id: 'membership.register',
            state: open(config.membershipOpen),
            method: 'POST',
            path: '/api/membership/register',
          },
          {
            id: 'membership.session',
            state: 'available',
            method: 'POST',
            path: '/api/membership/login',
          },
          { id: 'moderation', state: 'available' },
          { id: 'credentials', state: 'available' },
          { id: 'updates', state: 'available', method: 'GET', path: '/api/v1/updates' },
          { id: 'artifacts', state: 'planned' },
          { id: 'cases', state: open(config.apiOpen), method: 'GET', path: '/api/v1/cases' },
          { id: 'activity', state: open(config.apiOpen), method: 'GET', path: '/api/v1/activity' },
          { id: 'a2a', state: open(config.a2aEnabled), method: 'POST', path: '/a2a' },
          { id: 'mcp', state: 'available', method: 'POST', path: '/mcp' },
        ],
        identity: {
          kind: 'chosen_service_handle',
          proves: 'Control of the submitted keys only.',
          network_verified: false,
        },
        limitations: [
          'Notes are reviewed before they appear.',
          'Handles and names are chosen by their authors and verified by no one.',
          'An account whose keys are both lost cannot be recovered.',
        ],
      },
    }),

    'status.get': async () =>
      readiness.sampled()
        ? {
            status: 200,
            body: {
              schema: 'service.status.v1',
              service: 'responding',
              storage: 'not_checked',
              admission: { membership: config.membershipOpen, notes: config.guestbookOpen },
              collaboration: 'planned',
              inference_required: false,
            },
          }
        : refuse('storage_unavailable'),

    'operations.livez': async () => ({ status: 200, body: { status: 'ok' }, headers: NO_STORE }),

    'operations.readyz': async () =>
      (await readiness.check())
        ? { status: 200, body: { status: 'ok' }, headers: NO_STORE }
        : refuse('storage_unavailable'),
  };
}
