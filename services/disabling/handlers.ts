import { v7 as uuidv7 } from 'uuid';
import { openAppeal } from '../../domain/disabling/disabling.ts';
import type { Config } from '../../platform/config.ts';
import type { EventStore } from '../../platform/eventstore/event-store.ts';
import { defineCommand, handle } from '../../platform/eventstore/handle.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { RouteLimits } from '../../platform/limits/route-limits.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import {
  type KnownDisabling,
  latestDisabling,
} from '../../projections/disabling/member-decisions.ts';
import type { MemberRow } from '../../projections/membership/members.ts';
import { isMemberKey, type VerifierRow } from '../../projections/membership/verifiers.ts';
import type { AccessEnding } from '../account-closure.ts';
import { KEY_ATTEMPTS } from '../membership/contract.ts';
import { byModerator } from '../moderation/staff/by-moderator.ts';
import { disableMember, enableMember, loadMembership } from './commands.ts';
import { disabledContract, disablingContract } from './contract.ts';
import { byDisabledMember, readProof, refuseUnlessDisabled } from './proof.ts';

export interface DisablingHandlerDeps {
  config: Pick<Config, 'undoWindowSeconds'>;
  store: EventStore;
  keys: KeyRing;
  limits: RouteLimits;
  disablingEndings: readonly AccessEnding[];
}

/** The member's side: each request proves the sign-in key, and none opens a session. */
function disabledHandlers({
  config,
  keys,
  store,
  limits,
}: DisablingHandlerDeps): Handlers<typeof disabledContract> {
  const undoSeconds = config.undoWindowSeconds;
  return {
    'membership.disabled': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const { id } = call.body;
        const { members, verifiers } = readProof(id);
        const [provenBy, verified, [known]] = await snapshot<
          [MemberRow, VerifierRow, KnownDisabling]
        >(store.pool, [members, verifiers, latestDisabling(id, undoSeconds)]);
        const refused = refuseUnlessDisabled(keys, call.body, {
          members: provenBy,
          verifiers: verified,
        });
        if (refused) return refused;
        if (!known) throw new Error(`${id} is disabled without a decision`);
        return { status: 200, body: disabledBody(id, known) };
      }),

    'membership.appeal_disabling': (call) =>
      limits.within(call, [KEY_ATTEMPTS], async () => {
        const { id, sign_in_key } = call.body;
        if (!(await isMemberKey({ pool: store.pool, keys }, id, 'sign-in', sign_in_key)))
          return refuse('credentials_not_accepted');
        return handle(store, byDisabledMember(keys, call), appealDisabling(call.body, undoSeconds));
      }),
  };
}

/** Opens the member's appeal against the disabling; another lead decides it. */
function appealDisabling({ id, text }: { id: string; text: string }, undoSeconds: number) {
  const appealId = uuidv7();
  return defineCommand({
    load: { membership: loadMembership(id) },
    decide({ membership: { state, append } }, now) {
      const opened = append(openAppeal(state, { appealId, text, undoSeconds, now }));
      if (isRefusal(opened)) return opened;
      const body = { status: 'appeal_opened' as const };
      return { appends: opened.appends, reply: () => ({ status: 202 as const, body }) };
    },
  });
}

/** A disabling as its member may know it: without its reason until the undo window is over. */
function disabledBody(id: string, known: KnownDisabling) {
  const { appeal, told } = known;
  return {
    status: 'disabled' as const,
    id,
    since: known.decided_at.toISOString(),
    until: known.until?.toISOString() ?? null,
    ...(told
      ? { policy: known.policy ?? '', title: known.title ?? '', message: known.message }
      : {}),
    appeal: appeal && {
      ...appeal,
      text: appeal.text ?? '',
      opened_at: new Date(appeal.opened_at).toISOString(),
      decided_at: appeal.decided_at && new Date(appeal.decided_at).toISOString(),
    },
    actions: [
      ...(told && !appeal ? (['appeal'] as const) : []),
      'export' as const,
      'delete' as const,
    ],
  };
}

function disablingHandlers({
  config,
  keys,
  store,
  disablingEndings,
}: DisablingHandlerDeps): Handlers<typeof disablingContract> {
  const deps = { keys, disablingEndings, undoSeconds: config.undoWindowSeconds };
  return {
    // The commands of one lead wait for each other, so that the limit of disablings holds.
    'moderation.disable_member': (call) => {
      const { principal, params, body } = call;
      const command = disableMember(principal, params.member_id, toRequest(body), deps);
      return handle(store, byModerator(call, 'alone'), command);
    },

    'moderation.enable_member': (call) => {
      const { principal, params } = call;
      const command = enableMember(principal, params.member_id, deps);
      return handle(store, byModerator(call, 'alone'), command);
    },
  };
}

const toRequest = ({
  policy,
  message = null,
  until = null,
}: {
  policy: string;
  message?: string | null | undefined;
  until?: string | null | undefined;
}) => ({ policy, message, until: until === null ? null : new Date(until) });

export const routes = (deps: DisablingHandlerDeps): readonly Routes[] => [
  implement(disabledContract, disabledHandlers(deps)),
  implement(disablingContract, disablingHandlers(deps)),
];
