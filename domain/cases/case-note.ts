import type { Decider } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { conflict } from '../conflict.ts';
import { decideRemoval, type RemovalCommand } from '../publications/removal.ts';
import type * as events from './events.ts';
import { affectedMembersOfCase } from './member-commands.ts';

type CaseNoteEvents = (typeof events)[
  | 'CaseNoted'
  | 'CaseNoteRemoved'
  | 'CaseNoteRemovalTold'
  | 'CaseNoteRestored'];

export type CaseNoteState =
  | { status: 'none' }
  | {
      status: 'published' | 'removed';
      caseId: string;
      noteId: string;
      version: number;
      told: boolean;
    };

export type CaseNoteCommand =
  | {
      type: 'AddCaseNote';
      caseId: string;
      noteId: string;
      memberId: string;
      message: string;
      policyVersion: string;
      /** The state of the case at the time of the command, with an expired lease ended. */
      state: string;
      removed: boolean;
      members: readonly string[];
    }
  | RemovalCommand;

/** A member's note on a case. A withdrawn case takes no notes; only moderators remove a note. */
export const caseNote: Decider<
  CaseNoteState,
  CaseNoteCommand,
  CaseNoteEvents,
  'not_found' | 'gone' | 'state_conflict'
> = {
  initial: { status: 'none' },

  decide(state, command) {
    if (command.type === 'AddCaseNote') {
      if (command.removed) return refuse('gone');
      if (command.state === 'withdrawn')
        return conflict('wrong_state', { current_state: command.state });
      const { caseId: case_id, noteId: note_id, policyVersion: policy_version } = command;
      const data = { case_id, note_id, policy_version, members: affectedMembersOfCase(command) };
      return [{ type: 'CaseNoted', data, personal: { message: command.message } }];
    }
    if (state.status === 'none') return refuse('not_found');
    const decided = decideRemoval(state, command);
    if (decided === null) return [];
    if (isRefusal(decided)) return decided;
    const ids = { case_id: state.caseId, note_id: state.noteId };
    switch (decided.type) {
      case 'Removed':
        return [{ ...decided, type: 'CaseNoteRemoved', data: { ...ids, ...decided.data } }];
      case 'RemovalTold':
        return [{ type: 'CaseNoteRemovalTold', data: { ...ids, ...decided.data }, personal: null }];
      case 'Restored':
        return [{ type: 'CaseNoteRestored', data: { ...ids, ...decided.data }, personal: null }];
    }
  },

  evolve(state, event: NewEvent<CaseNoteEvents>) {
    if (event.type === 'CaseNoted') {
      const { case_id: caseId, note_id: noteId } = event.data;
      return { status: 'published', caseId, noteId, version: 1, told: false };
    }
    if (state.status === 'none') return state;
    return {
      ...state,
      status: event.type === 'CaseNoteRestored' ? 'published' : 'removed',
      version: state.version + 1,
      told: event.type === 'CaseNoteRemovalTold',
    };
  },
};
