import type { NewEvent, RecordedEvent } from '../../platform/eventstore/event.ts';
import type {
  Appeal,
  Decision,
  ExistingNote,
  NoteBase,
  NoteEvents,
  NoteState,
  OpenedAppeal,
  PendingNote,
} from './state.ts';

export function evolveNote(state: NoteState, event: RecordedEvent<NoteEvents>): NoteState {
  if (event.type === 'NoteSubmitted')
    return {
      status: 'pending',
      noteId: event.data.note_id,
      experience: event.data.experience,
      memberId: event.data.member_id,
      parentId: event.data.parent_id,
      version: event.stream_version,
      reviewVersion: event.stream_version,
      reports: { open: [], dismissed: [], members: [], silentOfGuests: 0 },
      tier: 'normal',
      deferrals: 0,
      deferredUntil: null,
      corrections: 0,
      undoable: null,
    };
  if (state.status === 'none') return state;
  return {
    ...changed(state, event),
    version: event.stream_version,
    reviewVersion: BESIDE_REVIEW.includes(event.type) ? state.reviewVersion : event.stream_version,
  };
}

/** The state after events that a moderator has decided, for a decision in the same transaction. */
export function evolveDecided(
  before: ExistingNote,
  decided: readonly NewEvent<NoteEvents>[],
  { moderatorId, now }: { moderatorId: string; now: Date },
): ExistingNote {
  let state = before;
  for (const event of decided)
    state = evolveNote(state, {
      ...event,
      event_id: '',
      stream_version: state.version + 1,
      actor: { type: 'moderator', id: moderatorId },
      recorded_at: now,
    } as RecordedEvent<NoteEvents>) as ExistingNote;
  return state;
}

/**
 * Events that change the version, but neither the text nor a decision. A moderator who has not seen
 * them may still decide; otherwise anybody could delay a decision by reporting the note.
 */
const BESIDE_REVIEW: readonly string[] = ['NoteReported', 'AppealOpened', 'AppealPeriodEnded'];

type Change = Exclude<RecordedEvent<NoteEvents>, { type: 'NoteSubmitted' }>;

function changed(state: ExistingNote, event: Change): ExistingNote {
  switch (event.type) {
    case 'NoteCorrected':
      return state.status === 'pending' ? corrected(state) : state;
    case 'NoteApproved':
      if (state.status !== 'pending') return state;
      return {
        ...known(state),
        status: 'approved',
        undoable: { decision: decision(event, 'approved'), before: state },
        kept: null,
      };
    case 'NoteRejected':
      if (state.status !== 'pending') return state;
      return {
        ...known(state),
        reports: settled(state.reports),
        status: 'rejected',
        decision: decision(event, 'rejected'),
        before: state,
        appeal: { status: 'none' },
        erased: false,
      };
    case 'NoteRemoved':
      if (state.status !== 'approved') return state;
      return {
        ...known(state),
        reports: settled(state.reports),
        status: 'removed',
        decision: decision(event, 'removed'),
        before: state,
        settled: state.reports.open,
        appeal: { status: 'none' },
        erased: false,
      };
    case 'NoteRestored':
      // After the undo of a removal, the note is approved already; the event only confirms that.
      if (state.status === 'approved') return state;
      return { ...known(state), status: 'approved', undoable: null, kept: null };
    case 'AppealGranted': {
      const undoable =
        event.data.undoable && (state.status === 'rejected' || state.status === 'removed')
          ? { decision: decision(event, 'granted'), before: state }
          : null;
      return { ...known(state), status: 'approved', undoable, kept: null };
    }
    case 'DecisionUndone':
      return undone(state, event.data.decision);
    case 'NoteEscalated':
      if (state.status !== 'pending') return state;
      return {
        ...state,
        tier: 'lead',
        deferredUntil: null,
        // An escalation by age cannot be undone: the service would escalate the note again.
        undoable:
          event.actor.type === 'moderator'
            ? { decision: decision(event, 'escalated'), before: state }
            : null,
      };
    case 'NoteDeferred':
      if (state.status !== 'pending') return state;
      return {
        ...state,
        deferrals: state.deferrals + 1,
        deferredUntil: new Date(event.data.until),
        undoable: { decision: decision(event, 'deferred'), before: state },
      };
    case 'NoteWithdrawn':
      return {
        ...known(state),
        reports: settled(state.reports),
        status: 'withdrawn',
        erased: 'erased' in state && state.erased,
      };
    case 'NoteReported':
      return { ...state, reports: reported(state.reports, event) };
    case 'ReportsDismissed':
      return {
        ...state,
        reports: dismissed(state.reports, event.data.reports),
        ...(event.data.undoable && state.status === 'approved'
          ? { kept: { decision: decision(event, 'kept'), before: state.reports } }
          : {}),
      };
    case 'AppealOpened':
      return withAppeal(state, {
        status: 'open',
        appealId: event.data.appeal_id,
        memberId: event.data.member_id,
        at: event.recorded_at,
      });
    case 'AppealUpheld': {
      const before = openAppealOf(state);
      const undoable =
        event.data.undoable && before ? { decision: decision(event, 'upheld'), before } : null;
      return withAppeal(state, { status: 'upheld', undoable });
    }
    case 'AppealPeriodEnded':
      return withAppeal(state, { status: 'period_over' });
    case 'NoteErased':
      return erased(state);
  }
}

function known({
  noteId,
  experience,
  memberId,
  parentId,
  version,
  reviewVersion,
  reports,
}: ExistingNote): NoteBase {
  return { noteId, experience, memberId, parentId, version, reviewVersion, reports };
}

function decision({ event_id, actor, recorded_at }: Change, kind: Decision['kind']): Decision {
  return { eventId: event_id, kind, by: actor, at: recorded_at };
}

/** Counts a correction, in the state to which an undo returns as well. */
function corrected(state: PendingNote): PendingNote {
  const { corrections, undoable } = state;
  return {
    ...state,
    corrections: corrections + 1,
    undoable: undoable && { ...undoable, before: corrected(undoable.before) },
  };
}

/** Restores the state before the decision, with a removed note's reports; drops an open appeal. */
function undone(state: ExistingNote, kind: Decision['kind']): ExistingNote {
  if (kind === 'kept') return reportedAgain(state);
  if (kind === 'upheld') return appealedAgain(state);
  if (kind === 'granted') return refusedAgain(state);
  if (state.status === 'removed') return state.before;
  if (state.status === 'rejected') return state.before;
  if (state.status === 'approved' && state.undoable)
    return { ...state.undoable.before, reports: state.reports };
  if (state.status !== 'pending') return state;
  // Reports may have come after that decision, while the note was public until its approval was undone.
  return { ...(reviewBefore(state) ?? state), reports: state.reports };
}

/** After an undone dismissal: its reports are open again, beside those that came later. */
function reportedAgain(state: ExistingNote): ExistingNote {
  if (state.status !== 'approved' || !state.kept) return state;
  const { open, dismissed } = state.kept.before;
  const later = state.reports.open.filter(
    ({ report_id }) => !open.some((report) => report.report_id === report_id),
  );
  return {
    ...state,
    reports: { ...state.reports, open: [...open, ...later], dismissed },
    kept: null,
  };
}

function appealedAgain(state: ExistingNote): ExistingNote {
  if (!('appeal' in state) || state.appeal.status !== 'upheld' || !state.appeal.undoable)
    return state;
  return withAppeal(state, state.appeal.undoable.before);
}

/**
 * After the undo of a granted appeal: refused as before, with the appeal open. Reports from the time
 * when the note was public count as settled by that refusal.
 */
function refusedAgain(state: ExistingNote): ExistingNote {
  if (state.status !== 'approved' || !state.undoable) return state;
  const { before } = state.undoable;
  if (before.status === 'pending') return state;
  const former = before.status === 'removed' ? before.settled : before.before.reports.open;
  const open = [...former, ...state.reports.open];
  const reports = { ...state.reports, open };
  return before.status === 'removed'
    ? { ...before, reports: settled(reports), settled: open, before: { ...before.before, reports } }
    : { ...before, reports: settled(reports), before: { ...before.before, reports } };
}

const openAppealOf = (state: ExistingNote): OpenedAppeal | null =>
  'appeal' in state && state.appeal.status === 'open' ? state.appeal : null;

/** The note before its last deferral or escalation. After an undone deferral, the note is due. */
export function reviewBefore({ undoable }: PendingNote): PendingNote | null {
  if (!undoable) return null;
  const { decision, before } = undoable;
  return decision.kind === 'deferred' ? { ...before, deferredUntil: null } : before;
}

/** Drops an open appeal: an erased note can be neither reviewed nor published. */
function erased(state: ExistingNote): ExistingNote {
  if (!('erased' in state)) return state;
  const appealed = 'appeal' in state && state.appeal.status === 'open';
  return {
    ...(appealed ? withAppeal(state, { status: 'none' }) : state),
    erased: true,
  } as ExistingNote;
}

function settled(reports: NoteBase['reports']): NoteBase['reports'] {
  return { ...reports, open: [] };
}

/** Dismisses the reasons of these reports; later reports stay open. */
function dismissed(
  reports: NoteBase['reports'],
  kept: readonly { report_id: string }[],
): NoteBase['reports'] {
  const ids = new Set(kept.map(({ report_id }) => report_id));
  const reasons = reports.open.flatMap(({ report_id, reason }) =>
    ids.has(report_id) ? reason : [],
  );
  return {
    ...reports,
    open: reports.open.filter(({ report_id }) => !ids.has(report_id)),
    dismissed: [...new Set([...reports.dismissed, ...reasons])],
  };
}

function reported(
  reports: NoteBase['reports'],
  { data, stream_version, recorded_at }: Extract<Change, { type: 'NoteReported' }>,
): NoteBase['reports'] {
  const { report_id, member_id, reason, silent } = data;
  const members = member_id === null ? reports.members : [...reports.members, member_id];
  if (silent)
    return {
      ...reports,
      members,
      silentOfGuests: reports.silentOfGuests + (member_id === null ? 1 : 0),
    };
  const report = { report_id, member_id, reason, version: stream_version, at: recorded_at };
  return { ...reports, members, open: [...reports.open, report] };
}

function withAppeal(state: ExistingNote, appeal: Appeal): ExistingNote {
  return state.status === 'rejected' || state.status === 'removed' ? { ...state, appeal } : state;
}
