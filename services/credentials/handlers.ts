import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { unixSeconds } from '../../platform/http/schemas.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import type { RouteLimits } from '../../platform/limits/route-limits.ts';
import { budgetResetsAt } from '../../platform/limits/write-budget.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { credentialsOfMember } from '../../projections/credentials/credentials.ts';
import { isMemberKey } from '../../projections/membership/verifiers.ts';
import { memberBody } from '../membership/contract.ts';
import { byBearer, bySignInKey, type MemberDeps } from './by-bearer.ts';
import { BOOTSTRAP_ATTEMPTS, credentialsContract } from './contract.ts';
import { createCredential } from './create.ts';
import { credentialBody, revokeCredential, revokeOthers } from './revoke.ts';
export interface CredentialsDeps extends MemberDeps {
  config: Pick<Config, 'limitWritesPerDay' | 'limitActiveCredentials'>;
  limits: RouteLimits;
  pool: pg.Pool;
}

function credentialsHandlers(deps: CredentialsDeps): Handlers<typeof credentialsContract> {
  const { pool, limits, config } = deps;

  return {
    'credential.bootstrap': (call) => {
      const { member_id: memberId, sign_in_key: signInKey } = call.body;
      return limits.within(call, [BOOTSTRAP_ATTEMPTS], async () => {
        if (!(await isMemberKey(deps, memberId, 'sign-in', signInKey)))
          return refuse('credential_not_accepted');
        const policy = bySignInKey(deps, call);
        return createCredential(deps, policy, memberId, call.body, null, (created) => ({
          status: 201 as const,
          body: { status: 'created' as const, ...created },
        }));
      });
    },

    'credential.rotate': (call) => {
      const { memberId, credentialId, scopes, keyEpoch, label } = call.principal;
      const replaced = { credentialId, scopes, keyEpoch, label };
      const policy = byBearer(deps, call);
      return createCredential(deps, policy, memberId, call.body, replaced, (created) => ({
        status: 201,
        body: {
          status: 'rotated',
          credential: created.credential,
          revoked_credential_id: credentialId,
          receipt: created.receipt,
        },
      }));
    },

    'credential.revoke': (call) => {
      const { memberId, credentialId } = call.principal;
      const policy = byBearer(deps, call);
      return 'all_others' in call.body
        ? revokeOthers(deps, policy, memberId, credentialId)
        : revokeCredential(deps, policy, memberId, call.body.credential_id);
    },

    'credential.list': async ({ principal, query: { state, cursor, limit } }) => {
      const place = toKeysetPosition('credentials', cursor);
      if (isRefusal(place)) return place;
      const active = state === 'active';
      const rows = await query(
        pool,
        credentialsOfMember(principal.memberId, active, limit + 1, place),
      );
      const page = toPage('credentials', rows, limit, (last) => ({
        at: last.place,
        id: last.credential_id,
      }));
      return {
        status: 200,
        body: {
          status: 'ok',
          credentials: page.rows.map(credentialBody),
          ...page.next,
        },
      };
    },

    'credential.me': async ({ principal }) => ({
      status: 200,
      body: {
        status: 'ok',
        member: memberBody(principal.memberId, principal.handle),
        credential: {
          credential_id: principal.credentialId,
          member_id: principal.memberId,
          ...(principal.label === null ? {} : { label: principal.label }),
          scopes: [...principal.scopes].sort(),
          state: 'active',
          created_at: principal.createdAt.toISOString(),
          expires_at: unixSeconds(principal.expiresAt),
          last_used_on: principal.provenAt.toISOString().slice(0, 10),
        },
        write_budget: {
          limit: config.limitWritesPerDay,
          used: principal.writesToday,
          resets_at: budgetResetsAt(principal.provenAt),
        },
      },
    }),
  };
}

export const routes = (deps: CredentialsDeps): readonly Routes[] => [
  implement(credentialsContract, credentialsHandlers(deps)),
];
