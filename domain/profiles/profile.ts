import type { Decider } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { isRefusal } from '../../platform/refusal.ts';
import { wrongState, wrongVersion } from '../conflict.ts';
import { decideRemoval, type RemovalCommand } from '../publications/removal.ts';
import type * as events from './events.ts';

type ProfileEvents = (typeof events)[keyof typeof events];

/** `version` counts the stream's events. `told`: the author has been notified of the removal. */
export interface ProfileState {
  status: 'none' | 'published' | 'withdrawn' | 'removed';
  version: number;
  told: boolean;
}

export interface ProfileContent {
  display_name: string;
  summary: string;
  links: string[];
  capabilities: string[];
}

export type ProfileCommand =
  | {
      type: 'PublishProfile';
      content: ProfileContent;
      policyVersion: string;
      /** Undefined: replace any version. 0: the member must not have published a profile before. */
      expectedVersion: number | undefined;
      /** The removal that this publication ends, if the author has not been notified of it. */
      untold: { of: string; policy: string } | null;
    }
  | { type: 'WithdrawProfile'; reason: 'author' | 'deactivated' }
  | RemovalCommand;

/**
 * A profile is public as soon as it is published. The member can publish again after a withdrawal
 * or a removal, but only a moderator can restore the removed content.
 */
export const profile: Decider<ProfileState, ProfileCommand, ProfileEvents, 'state_conflict'> = {
  initial: { status: 'none', version: 0, told: false },

  decide(state, command) {
    switch (command.type) {
      case 'PublishProfile': {
        const { content, policyVersion, expectedVersion, untold } = command;
        if (expectedVersion !== undefined && expectedVersion !== state.version)
          return wrongVersion(state);
        return [
          // Publishing makes the removal final, so the author can be notified now.
          ...(untold
            ? [{ type: 'ProfileRemovalTold' as const, data: untold, personal: null }]
            : []),
          {
            type: 'ProfilePublished',
            data: { policy_version: policyVersion },
            personal: content,
          },
        ];
      }
      case 'WithdrawProfile':
        // A removed profile can be withdrawn too; otherwise a restore would publish it again.
        if (state.status !== 'published' && state.status !== 'removed') return wrongState(state);
        return [{ type: 'ProfileWithdrawn', data: { reason: command.reason }, personal: null }];
      default: {
        const decided = decideRemoval(state, command);
        if (decided === null) return [];
        if (isRefusal(decided)) return decided;
        switch (decided.type) {
          case 'Removed':
            return [{ ...decided, type: 'ProfileRemoved' }];
          case 'RemovalTold':
            return [{ ...decided, type: 'ProfileRemovalTold', personal: null }];
          case 'Restored':
            return [{ ...decided, type: 'ProfileRestored', personal: null }];
        }
      }
    }
  },

  evolve(state, event: NewEvent<ProfileEvents>) {
    return {
      status: AFTER[event.type],
      version: state.version + 1,
      told: event.type === 'ProfileRemovalTold',
    };
  },
};

const AFTER = {
  ProfilePublished: 'published',
  ProfileWithdrawn: 'withdrawn',
  ProfileRemoved: 'removed',
  ProfileRemovalTold: 'removed',
  ProfileRestored: 'published',
} as const;
