import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import { refuse } from '../../platform/refusal.ts';
import { conflict } from '../conflict.ts';
import { notifiedAt } from '../publications/undo.ts';
import {
  type ExistingNote,
  type NoteEvents,
  type NoteState,
  openReports,
  type ParentFacts,
  settledReports,
  takesReplies,
} from './state.ts';
import type { Experience, ReportReason } from './words.ts';

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

export interface CorrectNote {
  type: 'CorrectNote';
  memberId: string;
  message: string;
  /** The text of the note now. */
  current: string | null;
  /** Whether a moderator holds the note. */
  held: boolean;
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
      data: { note_id: state.noteId, reports: settledReports(openReports(state)) },
      personal: null,
    },
  ];
}

/** How often the author may correct a note. */
export const MAX_CORRECTIONS = 5;

/**
 * Replaces the text of the author's note while it waits and no moderator holds it. Within its undo
 * window, a rejected note answers like one that is held.
 */
export function correct(
  state: NoteState,
  { memberId, message, current, held, undoSeconds, now }: CorrectNote,
): EventsOrRefusal<NoteEvents, 'not_found' | 'state_conflict'> {
  if (state.status === 'none' || state.memberId !== memberId) return refuse('not_found');
  if (!seemsPending(state, undoSeconds, now)) return conflict('wrong_state');
  if (state.status !== 'pending' || held) return conflict('under_review');
  if (message === current) return [];
  if (state.corrections >= MAX_CORRECTIONS) return conflict('correction_limit');
  return [{ type: 'NoteCorrected', data: { note_id: state.noteId }, personal: { message } }];
}

/** After so many open reports on a subject, further reports of guests are only counted. */
export const MAX_OPEN_REPORTS = 50;

/** What decides a report, from the note's row and its reports: the stream is not read for it. */
export interface ReportableNote {
  noteId: string;
  status: string;
  experience: string;
  parentId: string | null;
  /** Reasons that a moderator has reviewed and dismissed. */
  dismissed: readonly string[];
  /** The number of open reports. */
  open: number;
  /** The number of reports of guests for dismissed reasons. */
  silentOfGuests: number;
  /** Members who have reported the note. */
  reporters: readonly string[];
}

/**
 * Records one report per reporter; a report for a dismissed reason is recorded as silent. Returns
 * `counted` for a guest's report beyond the limit, so that no number of guests makes the stream long.
 */
export function report(
  note: ReportableNote,
  command: ReportNote,
): EventsOrRefusal<NoteEvents, 'not_found'> | 'counted' {
  if (note.status !== 'approved') return refuse('not_found');
  const readable = note.parentId === null || takesReplies(command.parent, note.experience);
  if (!readable) return refuse('not_found');
  const { memberId, reason, details } = command;
  if (memberId ? note.reporters.includes(memberId) : command.repeated) return [];
  const silent = note.dismissed.includes(reason);
  const like = silent ? note.silentOfGuests : note.open;
  if (memberId === null && like >= MAX_OPEN_REPORTS) return 'counted';
  return [
    {
      type: 'NoteReported',
      data: {
        note_id: note.noteId,
        report_id: command.reportId,
        member_id: memberId,
        reason,
        silent,
      },
      personal: { details },
    },
  ];
}

/** The same facts from the note's state. */
export function toReportable(state: ExistingNote): ReportableNote {
  const { noteId, status, experience, parentId, reports } = state;
  const { dismissed, silentOfGuests, members: reporters } = reports;
  const open = reports.open.length;
  return { noteId, status, experience, parentId, dismissed, open, silentOfGuests, reporters };
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
