import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { memberBody, unixSeconds } from '../../platform/http/schemas.ts';
import { MEMBERSHIP_DISABLED } from '../../platform/keys/ended-verifiers.ts';
import { isMemberKey } from '../../platform/keys/key-proof.ts';
import { readVerifiers, renewVerifier } from '../../platform/keys/verifiers.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import type { RouteLimits } from '../../platform/limits/route-limits.ts';
import { budgetResetsAt } from '../../platform/limits/write-budget.ts';
import { query } from '../../platform/postgres/query.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { credentialsOfMember } from '../../projections/credentials/credentials.ts';
import { findMember } from '../../projections/membership/members.ts';
import { BOOTSTRAP_ATTEMPTS, type credentialsContract } from './contract.ts';
import { createCredential } from './create.ts';
import { credentialBody, revokeCredential, revokeOthers } from './revoke.ts';
import {
  type CommandAuthor,
  defineCommandAuthor,
  type MemberCommandDeps,
  runCommandAs,
  runMemberCommand,
} from './run-member-command.ts';

export interface CredentialsDeps extends MemberCommandDeps {
  config: Pick<Config, 'limitWritesPerDay' | 'limitActiveCredentials'>;
  limits: RouteLimits;
  pool: pg.Pool;
}

export function credentialsHandlers(deps: CredentialsDeps): Handlers<typeof credentialsContract> {
  const { pool, keys, limits, config } = deps;

  /** Authenticates by sign-in key. An unknown member id costs the same work, to hide the cause. */
  const memberWith = (
    memberId: string,
    signInKey: string,
  ): CommandAuthor<'credential_not_accepted'> =>
    defineCommandAuthor({
      memberId,
      load: {
        members: findMember(memberId),
        verifiers: readVerifiers(memberOwner(memberId), 'sign-in'),
      },
      prove({ members: [member], verifiers: [verifier] }) {
        const proven = keys.verify('sign-in', memberId, signInKey, verifier);
        if (!proven || member?.state !== 'active') return refuse('credential_not_accepted');
        return member.disabled ? refuse('credential_not_accepted', MEMBERSHIP_DISABLED) : null;
      },
      rows: ({ verifiers: [verifier] }) =>
        renewVerifier(keys, memberOwner(memberId), signInKey, verifier),
    });

  return {
    'credential.bootstrap': (call) => {
      const { member_id: memberId, sign_in_key: signInKey } = call.body;
      return limits.within(call, [BOOTSTRAP_ATTEMPTS], async () => {
        if (!(await isMemberKey(deps, memberId, 'sign-in', signInKey)))
          return refuse('credential_not_accepted');
        return runCommandAs(
          memberWith(memberId, signInKey),
          deps,
          call,
          createCredential(deps, memberId, call.body, null, (created) => ({
            status: 'created' as const,
            ...created,
          })),
        );
      });
    },

    'credential.rotate': (call) => {
      const { memberId, credentialId, scopes, keyEpoch, label } = call.principal;
      return runMemberCommand(
        deps,
        call,
        createCredential(
          deps,
          memberId,
          call.body,
          { credentialId, scopes, keyEpoch, label },
          (created) => ({
            status: 'rotated' as const,
            credential: created.credential,
            revoked_credential_id: credentialId,
            receipt: created.receipt,
          }),
        ),
      );
    },

    'credential.revoke': (call) => {
      const { memberId, credentialId } = call.principal;
      return 'all_others' in call.body
        ? runMemberCommand(deps, call, revokeOthers(keys, memberId, credentialId))
        : runMemberCommand(deps, call, revokeCredential(keys, memberId, call.body.credential_id));
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
