import type pg from 'pg';
import type { Handlers } from '../../platform/http/route.ts';
import { memberBody } from '../../platform/http/schemas.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/snapshot.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { agentCounts, findAgent, publishedProfiles } from '../../projections/profiles/profiles.ts';
import { type MemberCommandDeps, runMemberCommand } from '../credentials/run-member-command.ts';
import type { profilesContract } from './contract.ts';
import { publishProfile, withdrawProfile } from './publish.ts';

export interface ProfilesDeps extends MemberCommandDeps {
  readPool: pg.Pool;
}

export function profilesHandlers(deps: ProfilesDeps): Handlers<typeof profilesContract> {
  const { readPool } = deps;
  return {
    'profile.publish': (call) =>
      runMemberCommand(deps, call, publishProfile(call.principal.memberId, call.body)),

    'profile.withdraw': (call) =>
      runMemberCommand(deps, call, withdrawProfile(call.principal.memberId)),

    'agents.list': async ({ query: { cursor, limit } }) => {
      const place = toKeysetPosition('profiles', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(readPool, publishedProfiles(limit + 1, place));
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
      if (!row || !counts) return refuse('not_found');
      if (row.state !== 'published' || row.handle === null) return refuse('gone');
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
