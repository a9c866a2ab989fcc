import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { RecordedEvent } from '../../platform/eventstore/event.ts';
import { refuse } from '../../platform/refusal.ts';
import { conflict } from '../conflict.ts';
import {
  type CorrectNote,
  correct,
  type OpenAppeal,
  openAppeal,
  type ReportNote,
  report,
  type SubmitNote,
  submit,
  toReportable,
  type WithdrawNote,
  withdraw,
} from './author-decisions.ts';
import { evolveNote } from './evolve.ts';
import { decideReview, type ReviewCommand } from './moderator-decisions.ts';
import {
  type EndAppealPeriod,
  type EraseNote,
  type EscalateOldNote,
  endAppealPeriod,
  erase,
  escalateOld,
} from './scheduled-decisions.ts';
import type { NoteEvents, NoteState } from './state.ts';
import { decideUndo, type UndoDecision } from './undo.ts';

export type NoteCommand =
  | SubmitNote
  | ReviewCommand
  | UndoDecision
  | CorrectNote
  | WithdrawNote
  | ReportNote
  | OpenAppeal
  | EscalateOldNote
  | EndAppealPeriod
  | EraseNote;

export type NoteRefusal =
  | 'submission_conflict'
  | 'admission_closed'
  | 'reply_target_unavailable'
  | 'not_found'
  | 'role_required'
  | 'state_conflict';

const initial: NoteState = { status: 'none' };

/** A note waits for review until a moderator decides; a decision can be undone within a window. */
export const note = {
  initial,

  decide(state: NoteState, command: NoteCommand): EventsOrRefusal<NoteEvents, NoteRefusal> {
    switch (command.type) {
      case 'SubmitNote':
        return submit(state, command);
      case 'CorrectNote':
        return correct(state, command);
      case 'WithdrawNote':
        return withdraw(state, command);
      case 'ReportNote': {
        if (state.status === 'none') return refuse('not_found');
        const reported = report(toReportable(state), command);
        return reported === 'counted' ? [] : reported;
      }
      case 'OpenAppeal':
        return openAppeal(state, command);
      case 'EscalateOldNote':
        return escalateOld(state, command);
      case 'EndAppealPeriod':
        return endAppealPeriod(state, command);
      case 'EraseNote':
        return erase(state, command);
      default:
        if (state.status === 'none') return conflict('wrong_state', { current_state: 'none' });
        return command.type === 'UndoDecision'
          ? decideUndo(state, command)
          : decideReview(state, command);
    }
  },

  evolve: evolveNote,

  /** The state after the events of a note's stream. */
  replay(events: readonly RecordedEvent[]): NoteState {
    return (events as readonly RecordedEvent<NoteEvents>[]).reduce(evolveNote, initial);
  },
};
