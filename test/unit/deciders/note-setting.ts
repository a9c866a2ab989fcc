import { type NoteCommand, note } from '../../../domain/guestbook/note.ts';
import type { NoteEvents, NoteState } from '../../../domain/guestbook/state.ts';
import type { Actor, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { isRefusal } from '../../../platform/refusal.ts';

export const id = '0b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f60';
export const parentId = '1c8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f61';
export const memberId = '2d8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f62';
export const ann = '3e8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f63';
export const bob = '4f8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f64';
export const carol = '5f8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f65';
const start = new Date('2026-09-12T10:00:00.000Z');
export const later = (seconds: number) => new Date(start.getTime() + seconds * 1000);
const UNDO = 600;
const DAY = 86_400;
export const days = (count: number) => later(count * DAY);

/** The id of the n-th event of the note. */
export const eventId = (n: number) => `01890000-0000-7000-8000-${String(n).padStart(12, '0')}`;

export const parent = {
  state: 'approved',
  experience: 'service',
  parent_id: null,
  member_id: memberId,
};

export const submission = {
  type: 'SubmitNote' as const,
  noteId: id,
  experience: 'service' as const,
  memberId: memberId as string | null,
  parentId: null as string | null,
  name: '',
  message: 'Good morning',
  parent: null as typeof parent | null,
  admission: true,
};

type Made = { [Type in NoteCommand['type']]: (version: number) => NoteCommand };

const common = (expectedVersion: number) => ({ expectedVersion, claimedAt: null });

/** A command of each kind that fits a note at this version, by Ann if a moderator acts. */
export const made: Made = {
  SubmitNote: () => submission,
  ApproveNote: (v) => ({ type: 'ApproveNote', ...common(v), parent: null }),
  RejectNote: (v) => ({ type: 'RejectNote', ...common(v), policy: 'spam', message: null }),
  EscalateNote: (v) => ({ type: 'EscalateNote', ...common(v), why: 'Unsure' }),
  DeferNote: (v) => ({ type: 'DeferNote', ...common(v), until: days(1), lead: false }),
  RemoveNote: (v) => ({ type: 'RemoveNote', ...common(v), policy: 'abuse', message: 'No.' }),
  RestoreNote: (v) => ({ type: 'RestoreNote', ...common(v), moderatorId: bob }),
  KeepNote: (v) => ({ type: 'KeepNote', ...common(v) }),
  GrantAppeal: (v) => ({
    type: 'GrantAppeal',
    ...common(v),
    moderatorId: bob,
    message: null,
    parent: null,
  }),
  UpholdAppeal: (v) => ({ type: 'UpholdAppeal', ...common(v), moderatorId: bob, message: null }),
  UndoDecision: (v) => undo(v),
  CorrectNote: () => correction('Good evening'),
  WithdrawNote: () => ({ type: 'WithdrawNote', memberId, undoSeconds: UNDO, now: later(60) }),
  ReportNote: () => report('spam', null),
  OpenAppeal: () => appeal(days(1)),
  EscalateOldNote: () => ({ type: 'EscalateOldNote', now: days(4) }),
  EndAppealPeriod: () => ({ type: 'EndAppealPeriod', undoSeconds: UNDO, now: days(15) }),
  EraseNote: () => ({ type: 'EraseNote', cause: 'retention' }),
};

/** Undoes the event at this version, by default by Ann within the undo window. */
export function undo(version: number, more: object = {}): NoteCommand {
  return {
    type: 'UndoDecision',
    expectedVersion: version,
    of: eventId(version),
    moderatorId: ann,
    role: 'moderator',
    parent: null,
    authorGone: false,
    undoSeconds: UNDO,
    now: later(version + 1),
    ...more,
  };
}

export function report(reason: 'spam' | 'abuse', reporter: string | null, more: object = {}) {
  return {
    type: 'ReportNote' as const,
    reportId: '5a8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f65',
    memberId: reporter,
    repeated: false,
    reason,
    details: null,
    parent: null,
    ...more,
  };
}

/** The author's correction within a minute of the submission. */
export function correction(message: string, more: object = {}) {
  return {
    type: 'CorrectNote' as const,
    memberId,
    message,
    current: submission.message as string | null,
    held: false,
    undoSeconds: UNDO,
    now: later(60),
    ...more,
  };
}

export function appeal(now: Date, by = memberId): NoteCommand {
  const appealId = '6b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f66';
  return { type: 'OpenAppeal', appealId, memberId: by, text: 'Why?', undoSeconds: UNDO, now };
}

const actorOf = ({ type }: NoteCommand): Actor => {
  if (['SubmitNote', 'CorrectNote', 'WithdrawNote', 'OpenAppeal'].includes(type))
    return { type: 'member', id: memberId };
  return type === 'ReportNote' ? { type: 'guest' } : { type: 'moderator', id: ann };
};

/** The events that a command appends, as recorded, or its refusal. */
export function recorded(state: NoteState, command: NoteCommand, actor = actorOf(command)) {
  const decided = note.decide(state, command);
  if (isRefusal(decided)) return decided;
  const version = state.status === 'none' ? 0 : state.version;
  return decided.map((event, index) => {
    const at = version + index + 1;
    return {
      ...event,
      owner_id: memberId,
      stream_id: `note-${id}`,
      stream_version: at,
      position: 0,
      event_id: eventId(at),
      actor,
      recorded_at: later(at),
    } as RecordedEvent<NoteEvents>;
  });
}

/** The state after commands that must all be accepted. */
export function after(...commands: NoteCommand[]): NoteState {
  return commands.reduce<NoteState>((state, command) => appended(state, command), note.initial);
}

/** The state after one more command, which must be accepted. */
export function appended(state: NoteState, command: NoteCommand, actor?: Actor): NoteState {
  const events = recorded(state, command, actor);
  if (isRefusal(events)) throw new Error(`${command.type}: ${JSON.stringify(events)}`);
  return events.reduce(note.evolve, state);
}

/** The outcome of a command: accepted, nothing, or the reason of its refusal. */
export function outcome(state: NoteState, command: NoteCommand): string {
  const events = recorded(state, command);
  if (isRefusal(events)) return String(events.details?.reason ?? events.refused);
  return events.length > 0 ? 'accepted' : 'nothing';
}
