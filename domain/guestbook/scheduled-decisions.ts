import type { NewEvent } from '../../platform/eventstore/event.ts';
import { appealUntil } from './author-decisions.ts';
import type * as events from './events.ts';
import type { NoteEvents, NoteState, settledReports } from './state.ts';

export interface EscalateOldNote {
  type: 'EscalateOldNote';
  now: Date;
}

export interface EndAppealPeriod {
  type: 'EndAppealPeriod';
  undoSeconds: number;
  now: Date;
}

export interface EraseNote {
  type: 'EraseNote';
  cause: 'retention' | 'account_deletion';
}

type Ending = NewEvent<(typeof events)['NoteWithdrawn' | 'NoteErased']>;

/** Scheduled commands are never refused: they return no events if there is nothing to do. */
export function escalateOld(state: NoteState, { now }: EscalateOldNote): NewEvent<NoteEvents>[] {
  if (state.status !== 'pending' || state.tier === 'lead') return [];
  if (state.deferredUntil && now < state.deferredUntil) return [];
  return [
    {
      type: 'NoteEscalated',
      data: { note_id: state.noteId, cause: 'age' },
      personal: { why: null },
    },
  ];
}

export function endAppealPeriod(
  state: NoteState,
  { undoSeconds, now }: EndAppealPeriod,
): NewEvent<NoteEvents>[] {
  if (state.status !== 'rejected' && state.status !== 'removed') return [];
  const { appeal, decision } = state;
  if (appeal.status !== 'none' || now < appealUntil(decision.at, undoSeconds)) return [];
  return [
    {
      type: 'AppealPeriodEnded',
      data: { note_id: state.noteId, of: decision.eventId },
      personal: null,
    },
  ];
}

/** Retention does not erase a note with an open appeal, because its reviewer must read the note. */
export function erase(state: NoteState, { cause }: EraseNote): NewEvent<NoteEvents>[] {
  if (!('erased' in state) || state.erased) return [];
  const appealed = 'appeal' in state && state.appeal.status === 'open';
  if (appealed && cause === 'retention') return [];
  return [{ type: 'NoteErased', data: { note_id: state.noteId, cause }, personal: null }];
}

/** Withdraws and erases a pending or public note when its author's account is closed. */
export function endWithAuthor(
  note_id: string,
  reports: ReturnType<typeof settledReports>,
): Ending[] {
  return [
    { type: 'NoteWithdrawn', data: { note_id, reports: [...reports] }, personal: null },
    erasedWithAuthor(note_id),
  ];
}

export function erasedWithAuthor(note_id: string): Ending {
  return { type: 'NoteErased', data: { note_id, cause: 'account_deletion' }, personal: null };
}
