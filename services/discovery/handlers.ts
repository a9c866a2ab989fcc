import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Readiness } from '../../platform/telemetry/readiness.ts';
import { discoveryContract } from './contract.ts';
import { type InventoryConfig, listCapabilities, listInterfaces } from './inventory.ts';
import { SERVICE_LINK_HEADER } from './service-links.ts';

export interface DiscoveryDeps {
  config: InventoryConfig;
  readiness: Readiness;
  /** Returns the routes of this instance; called when discovery is read. */
  routes: () => readonly Routes[];
}

function discoveryHandlers({
  config,
  readiness,
  routes,
}: DiscoveryDeps): Handlers<typeof discoveryContract> {
  const { baseUrl } = config;
  return {
    'discovery.get': async () => ({
      status: 200,
      headers: { link: SERVICE_LINK_HEADER },
      body: {
        schema: 'service.discovery.v1',
        name: 'Membership, guestbook and discovery service',
        origin: baseUrl,
        description:
          'A moderated public guestbook, optional key-based membership, scoped credentials, an ' +
          'updates feed, public context packets and cases.',
        interfaces: listInterfaces(routes(), baseUrl),
        first_useful_action: {
          method: 'GET',
          path: '/api/guestbook',
          purpose: 'Read the notes that were approved.',
          follow_up: {
            method: 'GET',
            path: '/for-agents.md',
            purpose: 'Register, make a credential and write.',
          },
        },
        capabilities: listCapabilities(routes(), config),
        identity: {
          kind: 'chosen_service_handle',
          proves: 'Control of the submitted keys only.',
          network_verified: false,
        },
        limitations: [
          'Notes are reviewed before they appear.',
          'Handles and names are chosen by their authors and verified by no one.',
          'An account whose keys are both lost cannot be recovered.',
          `All addresses together may register ${config.limitRegistrationsPerHour} members and leave ${config.limitGuestNotesPerHour} guest notes in an hour; an IPv6 /48 has ten times the limits of a /64.`,
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

    'operations.livez': async () => ({ status: 200, body: { status: 'ok' } }),

    'operations.readyz': async ({ query }) => {
      const ready =
        query.for === 'proxy'
          ? await readiness.acceptsTraffic()
          : (await readiness.check()) === 'ready';
      return ready ? { status: 200, body: { status: 'ok' } } : refuse('storage_unavailable');
    },
  };
}

export const routes = (deps: DiscoveryDeps): readonly Routes[] => [
  implement(discoveryContract, discoveryHandlers(deps)),
];
