import type { Config } from '../../platform/config.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { memberBody, unixSeconds } from '../../platform/http/schemas.ts';
import { readVerifiers } from '../../platform/keys/verifiers.ts';
import type { RateLimits } from '../../platform/limits/rate-limits.ts';
import { budgetResetsAt } from '../../platform/limits/write-budget.ts';
import { refuse } from '../../platform/refusal.ts';
import { findMember } from '../../projections/membership/members.ts';
import type { credentialsContract } from './contract.ts';
import { createCredential } from './create.ts';
import { revokeCredential } from './revoke.ts';
import {
  type CommandAuthor,
  defineCommandAuthor,
  type MemberCommandDeps,
  runCommandAs,
  runMemberCommand,
} from './run-member-command.ts';

export interface CredentialsDeps extends MemberCommandDeps {
  config: Pick<Config, 'limitWritesPerDay' | 'limitActiveCredentials' | 'limitBootstrapAttempts'>;
  limits: RateLimits;
}

export function credentialsHandlers(deps: CredentialsDeps): Handlers<typeof credentialsContract> {
  const { keys, limits, config } = deps;

  /** Authenticates by sign-in key. An unknown member id costs the same work, to hide the cause. */
  const memberWith = (
    memberId: string,
    signInKey: string,
  ): CommandAuthor<'credential_not_accepted'> =>
    defineCommandAuthor({
      memberId,
      load: { members: findMember(memberId), verifiers: readVerifiers(memberId, 'sign-in') },
      prove({ members: [member], verifiers: [verifier] }) {
        const proven = keys.verify('sign-in', memberId, signInKey, verifier);
        return proven && member?.state === 'active' ? null : refuse('credential_not_accepted');
      },
    });

  return {
    'credential.bootstrap': async (call) => {
      const { member_id: memberId, sign_in_key: signInKey } = call.body;
      const attempt = await limits.take(call.request.address, [
        { kind: 'bootstrap', window: '10 minutes', limit: config.limitBootstrapAttempts },
      ]);
      if (!attempt) return refuse('rate_limited');
      return runCommandAs(
        memberWith(memberId, signInKey),
        deps,
        call,
        createCredential(deps, memberId, call.body, null, (created) => ({
          status: 'created' as const,
          ...created,
        })),
      );
    },

    'credential.rotate': (call) => {
      const { memberId, credentialId, scopes, keyEpoch } = call.principal;
      return runMemberCommand(
        deps,
        call,
        createCredential(
          deps,
          memberId,
          call.body,
          { credentialId, scopes, keyEpoch },
          (created) => ({
            status: 'rotated' as const,
            credential: created.credential,
            revoked_credential_id: credentialId,
            receipt: created.receipt,
          }),
        ),
      );
    },

    'credential.revoke': (call) =>
      runMemberCommand(
        deps,
        call,
        revokeCredential(call.principal.memberId, call.body.credential_id),
      ),

    'credential.me': async ({ principal }) => ({
      status: 200,
      body: {
        status: 'ok',
        member: memberBody(principal.memberId, principal.handle),
        credential: {
          credential_id: principal.credentialId,
          member_id: principal.memberId,
          scopes: [...principal.scopes].sort(),
          state: 'active',
          created_at: principal.createdAt.toISOString(),
          expires_at: unixSeconds(principal.expiresAt),
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
