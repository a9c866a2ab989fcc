import { member, type RegistrationRefusal, register } from '../../domain/membership/member.ts';
import { isReservedHandle } from '../../domain/membership/reserved-handles.ts';
import { memberOwner } from '../../domain/owners.ts';
import {
  type Accepted,
  type Command,
  defineCommand,
  definePolicy,
  handle,
  type Policy,
} from '../../platform/eventstore/handle.ts';
import { requestIn } from '../../platform/eventstore/idempotency.ts';
import { defineStream } from '../../platform/eventstore/stream.ts';
import type { Call } from '../../platform/http/route.ts';
import { countOne, exhaustedLimits } from '../../platform/limits/rate-counters.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { findHandle, findMember, lockTotals } from '../../projections/membership/members.ts';
import { writeVerifier } from '../../projections/membership/verifiers.ts';
import { RECEIPT_SPACES } from '../receipt-spaces.ts';
import {
  ALL_REGISTRATIONS,
  memberBody,
  type membershipContract,
  REGISTRATIONS,
} from './contract.ts';
import type { MembershipDeps } from './deps.ts';

type RegisterRoute = (typeof membershipContract)['membership.register'];

export interface Registered {
  status: 200;
  body: { status: 'registered'; id: string; member: ReturnType<typeof memberBody> };
}

type RegisterCall = Pick<Call<RegisterRoute>, 'route' | 'body' | 'request'>;

/** Registers a member, once per id. */
export function registerMember(
  deps: MembershipDeps,
  call: RegisterCall,
): Promise<Registered | Refusal<RegistrationRefusal>> {
  return handle(deps.store, byNewMember(deps, call), registerCommand(deps, call));
}

/** The registering member has nothing to prove: a repeat is recognized by its keys, and no other has the id. */
function byNewMember(
  { keys }: MembershipDeps,
  { body }: RegisterCall,
): Policy<'registration_conflict', Registered> {
  return definePolicy({
    actor: { type: 'member', id: body.id },
    load: null,
    request: requestIn(RECEIPT_SPACES.register, {
      owner: memberOwner(body.id),
      key: body.id,
      operation: 'membership.register',
      route: 'POST /api/membership/register',
      sent: { ...body },
      keys,
    }),
    repeat: (stored) => stored as Registered,
  });
}

/**
 * The lock on the membership totals covers all checks: receipt, admission, capacity, handle and the day's
 * registrations per address.
 */
function registerCommand(
  { keys, config, limits }: MembershipDeps,
  call: RegisterCall,
): Command<Registered, RegistrationRefusal> {
  const { body } = call;
  const { id, handle: name } = body;
  const hashes = keys.all('handle', 'handle', name);
  const counters = limits.countersOf(call, [REGISTRATIONS, ALL_REGISTRATIONS]);
  const owner = memberOwner(id);
  return defineCommand({
    load: {
      totals: lockTotals(),
      members: findMember(id),
      stream: memberStreams.load(owner, id),
      handles: findHandle(hashes.map(({ hash }) => hash)),
      exhausted: exhaustedLimits(counters),
    },
    decide({
      totals,
      stream,
      handles,
      exhausted,
    }): Accepted<Registered> | Refusal<RegistrationRefusal> {
      const [hash] = hashes;
      const decided = stream.append(
        register(stream.state, {
          type: 'RegisterMember',
          handle: name,
          handleHash: hash?.hash ?? '',
          handleKeyId: hash?.key_id ?? 0,
          handleTaken: handles.length > 0,
          handleReserved: isReservedHandle(name),
          activeMembers: totals[0]?.active ?? 0,
          limited: exhausted.length > 0,
          limits: { members: config.limitMembers },
          admission: config.membershipOpen,
        }),
      );
      if (isRefusal(decided)) return decided;
      return {
        appends: decided.appends,
        rows: [
          writeVerifier(owner, 'sign-in', id, keys.mac('sign-in', id, body.sign_in_key)),
          writeVerifier(owner, 'recovery', id, keys.mac('recovery', id, body.recovery_key)),
          ...counters.map(countOne),
        ],
        reply: () => ({
          status: 200,
          body: { status: 'registered', id, member: memberBody(id, name) },
        }),
      };
    },
    restore: (stored, { members: [known] }) =>
      known?.state === 'active' ? stored : refuse('registration_conflict'),
  });
}

/** The streams of members, each of which has the account's registration, recoveries and end. */
export const memberStreams = defineStream('member', member);
