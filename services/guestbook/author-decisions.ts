import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { conflict, refuse } from '../../platform/refusal.ts';
import { notifiedAt } from '../publications/undo.ts';
import type { Experience } from './experience.ts';
import type { ReportReason } from './report-reasons.ts';
import {
  type ExistingNote,
  type NoteEvents,
  type NoteState,
  openReports,
  type ParentFacts,
  takesReplies,
} from './state.ts';

const DAY_MS = 86_400_000;
export const APPEAL_DAYS = 14;

export interface SubmitNote {
  type: 'SubmitNote';
  noteId: string;
  experience: Experience;
  memberId: string | null;
  parentId: string | null;
  name: string;
  message: string;
  parent: ParentFacts | null;
  admission: boolean;
}

export interface WithdrawNote {
  type: 'WithdrawNote';
  memberId: string;
  undoSeconds: number;
  now: Date;
}

export interface ReportNote {
  type: 'ReportNote';
  reportId: string;
  /** Null for a guest; `repeated` is then set if the guest has reported the note before. */
  memberId: string | null;
  repeated: boolean;
  reason: ReportReason;
  details: string | null;
  parent: ParentFacts | null;
}

export interface OpenAppeal {
  type: 'OpenAppeal';
  appealId: string;
  memberId: string;
  text: string;
  undoSeconds: number;
  now: Date;
}

export function submit(
  state: NoteState,
  command: SubmitNote,
): EventsOrRefusal<
  NoteEvents,
  'submission_conflict' | 'admission_closed' | 'reply_target_unavailable'
> {
  const { noteId, experience, memberId, parentId, name, message } = command;
  if (state.status !== 'none') return refuse('submission_conflict');
  if (!command.admission) return refuse('admission_closed');
  if (parentId !== null && !takesReplies(command.parent, experience))
    return refuse('reply_target_unavailable');
  return [
    {
      type: 'NoteSubmitted',
      data: {
        note_id: noteId,
        experience,
        attribution: memberId === null ? 'guest' : 'member',
        parent_id: parentId,
        member_id: memberId,
      },
      personal: { name, message },
    },
  ];
}

export function appealUntil(decidedAt: Date, undoSeconds: number): Date {
  return new Date(notifiedAt(decidedAt, undoSeconds).getTime() + APPEAL_DAYS * DAY_MS);
}

/** Whether the note reads as pending to its author: a rejection is hidden in its undo window. */
function seemsPending(state: ExistingNote, undoSeconds: number, now: Date): boolean {
  if (state.status === 'rejected') return now < notifiedAt(state.decision.at, undoSeconds);
  return state.status === 'pending';
}

/** Withdraws the author's note. Withdrawing a withdrawn note succeeds without a new event. */
export function withdraw(
  state: NoteState,
  { memberId, undoSeconds, now }: WithdrawNote,
): EventsOrRefusal<NoteEvents, 'not_found' | 'state_conflict'> {
  if (state.status === 'none' || state.memberId !== memberId) return refuse('not_found');
  if (state.status === 'withdrawn') return [];
  if (state.status !== 'approved' && !seemsPending(state, undoSeconds, now))
    return conflict('wrong_state');
  return [
    {
      type: 'NoteWithdrawn',
      data: { note_id: state.noteId, reports: [...openReports(state)] },
      personal: null,
    },
  ];
}

/** Records one report per reporter; a report for a dismissed reason is recorded as silent. */
export function report(
  state: NoteState,
  command: ReportNote,
): EventsOrRefusal<NoteEvents, 'not_found'> {
  if (state.status !== 'approved') return refuse('not_found');
  const readable = state.parentId === null || takesReplies(command.parent, state.experience);
  if (!readable) return refuse('not_found');
  const { memberId, reason, details } = command;
  const repeated = memberId ? state.reports.members.includes(memberId) : command.repeated;
  if (repeated) return [];
  return [
    {
      type: 'NoteReported',
      data: {
        note_id: state.noteId,
        report_id: command.reportId,
        member_id: memberId,
        reason,
        silent: state.reports.dismissed.includes(reason),
      },
      personal: { details },
    },
  ];
}

/** Allows one appeal per decision, for 14 days after the undo window of the decision ends. */
export function openAppeal(
  state: NoteState,
  command: OpenAppeal,
): EventsOrRefusal<NoteEvents, 'not_found' | 'state_conflict'> {
  const { memberId, undoSeconds, now } = command;
  if (state.status === 'none' || state.memberId !== memberId) return refuse('not_found');
  if (state.status !== 'rejected' && state.status !== 'removed') return conflict('wrong_state');
  const { appeal, decision } = state;
  if (appeal.status === 'open' || appeal.status === 'upheld') return conflict('already_appealed');
  const over = appeal.status === 'period_over' || now >= appealUntil(decision.at, undoSeconds);
  if (over || state.erased || seemsPending(state, undoSeconds, now)) return conflict('wrong_state');
  return [
    {
      type: 'AppealOpened',
      data: {
        note_id: state.noteId,
        appeal_id: command.appealId,
        of: decision.eventId,
        member_id: memberId,
      },
      personal: { text: command.text },
    },
  ];
}
