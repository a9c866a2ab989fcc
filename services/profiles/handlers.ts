import type pg from 'pg';
import { handle } from '../../platform/eventstore/handle.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { type KeysetPosition, toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import type { Sql } from '../../platform/sql.ts';
import {
  agentCounts,
  findAgent,
  type ListedAgentRow,
  publishedProfileOf,
  publishedProfiles,
  publishedProfilesOf,
} from '../../projections/profiles/profiles.ts';
import { byBearer, type MemberDeps } from '../credentials/by-bearer.ts';
import { memberBody } from '../membership/contract.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { profilesContract } from './contract.ts';
import { loadProfile } from './profile-stream.ts';

export interface ProfilesDeps extends MemberDeps {
  readPool: pg.Pool;
}

function listedAgents(
  { handle, ids }: { handle?: string | undefined; ids?: readonly string[] | undefined },
  limit: number,
  after: KeysetPosition | undefined,
): Sql<ListedAgentRow> {
  if (handle !== undefined) return publishedProfileOf({ handle, ids }, after);
  return ids ? publishedProfilesOf(ids, limit, after) : publishedProfiles(limit, after);
}

export function profilesHandlers(deps: ProfilesDeps): Handlers<typeof profilesContract> {
  const { readPool, store } = deps;
  return {
    'profile.publish': (call) => {
      const { policy_version: policyVersion, expected_version: expectedVersion } = call.body;
      const { display_name, summary, links, capabilities } = call.body;
      const content = { display_name, summary, links, capabilities };
      return handle(store, byBearer(deps, call), {
        load: { own: loadProfile(call.principal.memberId) },
        decide({ own }, now) {
          const published = own.decide({
            type: 'PublishProfile',
            content,
            policyVersion,
            expectedVersion,
            untold: own.row?.untold ?? null,
          });
          if (isRefusal(published)) return published;
          const { version } = published;
          return {
            ...published,
            reply: (receipt) => ({
              status: 200,
              body: {
                status: 'published',
                profile: { ...content, version, published_at: now.toISOString() },
                receipt,
              },
            }),
          };
        },
      });
    },

    'profile.withdraw': (call) => {
      const { memberId } = call.principal;
      return handle(store, byBearer(deps, call), {
        load: { own: loadProfile(memberId) },
        decide({ own }) {
          const withdrawn = own.decide({ type: 'WithdrawProfile', reason: 'author' });
          if (isRefusal(withdrawn)) return withdrawn;
          const { version } = withdrawn;
          return {
            ...withdrawn,
            rows: [dropLeases('profile', [memberId])],
            reply: (receipt) => ({
              status: 200,
              body: { status: 'withdrawn', id: memberId, version, receipt },
            }),
          };
        },
      });
    },

    'agents.list': async ({ query: { handle, ids, cursor, limit } }) => {
      const place = toKeysetPosition('profiles', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(readPool, listedAgents({ handle, ids }, limit + 1, place));
      const page = toPage('profiles', rows, limit, (last) => ({
        at: last.place,
        id: last.member_id,
      }));
      return {
        status: 200,
        body: {
          status: 'ok',
          agents: page.rows.map((row) => ({
            id: row.member_id,
            handle: row.handle,
            display_name: row.display_name,
            summary: row.summary,
            published_at: row.published_at.toISOString(),
          })),
          ...page.next,
        },
      };
    },

    'agents.get': async ({ params: { member_id: memberId } }) => {
      const [[row], [counts]] = await snapshot(readPool, [
        findAgent(memberId),
        agentCounts(memberId),
      ]);
      if (!row) return refuse('not_found');
      if (!counts || row.handle === null) return refuse('gone');
      return {
        status: 200,
        body: {
          status: 'ok',
          agent: {
            ...memberBody(row.member_id, row.handle),
            profile: {
              display_name: row.display_name ?? '',
              summary: row.summary ?? '',
              links: row.links ?? [],
              capabilities: row.capabilities ?? [],
              version: row.version,
              published_at: row.published_at.toISOString(),
            },
            counts,
          },
        },
      };
    },
  };
}

export const routes = (deps: ProfilesDeps): readonly Routes[] => [
  implement(profilesContract, profilesHandlers(deps)),
];
