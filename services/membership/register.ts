import { member, type RegistrationRefusal, register } from '../../domain/membership/member.ts';
import { isReservedHandle } from '../../domain/membership/reserved-handles.ts';
import { readStream, streamVersion } from '../../platform/eventstore/append.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import type { Command } from '../../platform/eventstore/event-store.ts';
import {
  defineIdempotentCommand,
  idempotentCommand,
} from '../../platform/eventstore/idempotency.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import type { Call } from '../../platform/http/route.ts';
import { memberBody } from '../../platform/http/schemas.ts';
import { writeVerifier } from '../../platform/keys/verifiers.ts';
import { countOne, exhaustedLimits } from '../../platform/limits/rate-counters.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { findHandle, findMember, lockTotals } from '../../projections/membership/members.ts';
import { ALL_REGISTRATIONS, type membershipContract, REGISTRATIONS } from './contract.ts';
import type { MembershipDeps } from './deps.ts';

type RegisterRoute = (typeof membershipContract)['membership.register'];

export interface Registered {
  status: 'registered';
  id: string;
  member: ReturnType<typeof memberBody>;
}

/**
 * Registers a member. The lock on the membership totals covers all checks: receipt, admission,
 * capacity, handle and the day's registrations per address.
 */
export function registerCommand(
  { keys, config, limits }: MembershipDeps,
  call: Pick<Call<RegisterRoute>, 'route' | 'body' | 'request'>,
): Command<Registered, RegistrationRefusal> {
  const { body } = call;
  const { id, handle } = body;
  const hashes = keys.all('handle', 'handle', handle);
  const counters = limits.countersOf(call, [REGISTRATIONS, ALL_REGISTRATIONS]);
  const owner = memberOwner(id);
  const stream = `member-${id}`;
  const answer: Registered = { status: 'registered', id, member: memberBody(id, handle) };
  const command = defineIdempotentCommand({
    load: {
      totals: lockTotals(),
      members: findMember(id),
      events: readStream(owner, stream),
      handles: findHandle(hashes.map(({ hash }) => hash)),
      exhausted: exhaustedLimits(counters),
    },
    toReply: (registered: Registered) => ({ status: 200, body: registered }),
    replay: ({ reply }, { rows: { members } }) =>
      members[0]?.state === 'active' ? (reply as Registered) : refuse('registration_conflict'),
    decide({ rows: { totals, events, handles, exhausted } }) {
      const [hash] = hashes;
      const decided = register(replay(member, events), {
        type: 'RegisterMember',
        handle,
        handleHash: hash?.hash ?? '',
        handleKeyId: hash?.key_id ?? 0,
        handleTaken: handles.length > 0,
        handleReserved: isReservedHandle(handle),
        activeMembers: totals[0]?.active ?? 0,
        limited: exhausted.length > 0,
        limits: { members: config.limitMembers },
        admission: config.membershipOpen,
      });
      if (isRefusal(decided)) return decided;
      return {
        answer,
        appends: [
          {
            owner,
            stream,
            version: streamVersion(events),
            actor: { type: 'member', id },
            events: decided,
          },
        ],
        rows: [
          writeVerifier(owner, 'sign-in', id, keys.mac('sign-in', id, body.sign_in_key)),
          writeVerifier(owner, 'recovery', id, keys.mac('recovery', id, body.recovery_key)),
          ...counters.map(countOne),
        ],
      };
    },
  });
  return idempotentCommand(
    {
      owner,
      space: 'register',
      key: id,
      operation: 'membership.register',
      route: 'POST /api/membership/register',
      sent: { ...body },
      keys,
    },
    command,
  );
}
