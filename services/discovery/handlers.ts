import type pg from 'pg';
import { publicContent } from '../../platform/http/respond.ts';
import { type Content, type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { refuse } from '../../platform/refusal.ts';
import type { Readiness } from '../../platform/telemetry/readiness.ts';
import { sandboxNotice } from '../sandbox-notice.ts';
import { createSealStatus, type SealStatus } from '../seal/seal-status.ts';
import { discoveryContract } from './contract.ts';
import { type InventoryConfig, listCapabilities, listInterfaces } from './inventory.ts';
import { SERVICE_LINK_HEADER } from './service-links.ts';

export interface DiscoveryDeps {
  config: InventoryConfig;
  readiness: Readiness;
  readPool: pg.Pool;
  /** Returns the routes of this instance; called when discovery is read. */
  routes: () => readonly Routes[];
}

function discoveryHandlers({
  config,
  readiness,
  readPool,
  routes,
}: DiscoveryDeps): Handlers<typeof discoveryContract> {
  const { baseUrl } = config;
  const sealStatus = createSealStatus(readPool);
  let known: { keys: string; content: Content } | undefined;

  /** What the service offers, written once for each set of keys that sign the checkpoints of a sealed log. */
  async function discovery(): Promise<Content> {
    const { keys } = await sealStatus.read();
    const written = JSON.stringify(keys);
    if (known?.keys !== written)
      known = {
        keys: written,
        content: { ...publicContent(describe(keys)), served: 'until-changed' },
      };
    return known.content;
  }

  const describe = (keys: SealStatus['keys']) => ({
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
      ...(keys.length > 0 ? { log_keys: keys } : {}),
    },
    limitations: [
      ...(config.sandbox ? [sandboxNotice(config)] : []),
      'Notes are reviewed before they appear.',
      'Handles and names are chosen by their authors and verified by no one.',
      'An account whose keys are both lost cannot be recovered.',
      `All addresses together may register ${config.limitRegistrationsPerHour} members and leave ${config.limitGuestNotesPerHour} guest notes in an hour; an IPv6 /48 has ten times the limits of a /64.`,
    ],
  });

  return {
    'discovery.get': async () => ({
      status: 200,
      headers: { link: SERVICE_LINK_HEADER },
      content: await discovery(),
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
      if (!ready) return refuse('storage_unavailable');
      // The service works without, so that it stays in the rotation of a balancer.
      const { refused } =
        query.for === 'proxy' ? { refused: false } : await sealStatus.readPromptly();
      return { status: 200, body: { status: 'ok', ...(refused ? { seal: 'refused' } : {}) } };
    },
  };
}

export const routes = (deps: DiscoveryDeps): readonly Routes[] => [
  implement(discoveryContract, discoveryHandlers(deps)),
];
