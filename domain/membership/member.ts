import type { Decider, EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { refuse } from '../../platform/refusal.ts';
import type * as events from './events.ts';

type MemberEvents = (typeof events)[
  | 'MemberRegistered'
  | 'MemberRecovered'
  | 'MemberDeactivated'
  | 'MemberErased'];

export type MemberState =
  | { status: 'none' }
  | { status: 'active' }
  | { status: 'deactivated' }
  | { status: 'erased' };

export interface RegisterMember {
  type: 'RegisterMember';
  handle: string;
  handleHash: string;
  handleKeyId: number;
  /** `handleTaken` and the counts below are read while the row of membership totals is locked. */
  handleTaken: boolean;
  handleReserved: boolean;
  activeMembers: number;
  /** Whether a limit of registrations is used up. */
  limited: boolean;
  limits: { members: number };
  admission: boolean;
}

export interface RecoverMember {
  type: 'RecoverMember';
  operationId: string;
}

/** Deactivation is final. `EraseMember` records that the erasure of names and texts is complete. */
export type EndMember = { type: 'DeactivateMember'; eraseNotes: boolean } | { type: 'EraseMember' };

export type RegistrationRefusal =
  | 'registration_conflict'
  | 'invalid_request'
  | 'admission_closed'
  | 'capacity_reached'
  | 'rate_limited';

export type RecoveryRefusal = 'credentials_not_accepted';

/** A member's account: registered once, recovered any number of times, and deactivated once. */
export const member: Decider<
  MemberState,
  RegisterMember | RecoverMember | EndMember,
  MemberEvents,
  RegistrationRefusal | RecoveryRefusal
> = {
  initial: { status: 'none' },
  decide: (state, command) => {
    if (command.type === 'RegisterMember') return register(state, command);
    if (command.type === 'RecoverMember') return recover(state, command);
    return end(state, command);
  },
  evolve: (state, event) => {
    switch (event.type) {
      case 'MemberRegistered':
        return { status: 'active' };
      case 'MemberRecovered':
        return state;
      case 'MemberDeactivated':
        return { status: 'deactivated' };
      case 'MemberErased':
        return { status: 'erased' };
    }
  },
};

export function register(
  state: MemberState,
  command: RegisterMember,
): EventsOrRefusal<MemberEvents, RegistrationRefusal> {
  if (state.status !== 'none') return refuse('registration_conflict');
  if (command.handleReserved)
    return refuse('invalid_request', {
      issues: [{ path: 'handle', message: 'must not be a reserved name' }],
    });
  if (!command.admission) return refuse('admission_closed');
  if (command.activeMembers >= command.limits.members) return refuse('capacity_reached');
  if (command.handleTaken) return refuse('registration_conflict');
  if (command.limited) return refuse('rate_limited');
  return [
    {
      type: 'MemberRegistered',
      data: { handle_hash: command.handleHash, handle_key_id: command.handleKeyId },
      personal: { handle: command.handle },
    },
  ];
}

export function recover(
  state: MemberState,
  command: RecoverMember,
): EventsOrRefusal<MemberEvents, RecoveryRefusal> {
  if (state.status !== 'active') return refuse('credentials_not_accepted');
  return [{ type: 'MemberRecovered', data: { operation_id: command.operationId }, personal: null }];
}

/** Records each end once, and the erasure only after the deactivation; else returns no event. */
export function end(state: MemberState, command: EndMember): NewEvent<MemberEvents>[] {
  if (command.type === 'EraseMember')
    return state.status === 'deactivated'
      ? [{ type: 'MemberErased', data: {}, personal: null }]
      : [];
  if (state.status !== 'active') return [];
  const data = { erase_notes: command.eraseNotes, in_batches: true as const };
  return [{ type: 'MemberDeactivated', data, personal: null }];
}
