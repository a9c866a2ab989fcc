import type { NewEvent } from '../../platform/eventstore/event.ts';
import { conflict, type Refusal, wrongState } from '../../platform/refusal.ts';
import {
  type ApprovedNote,
  type ExistingNote,
  type NoteEvents,
  type ParentFacts,
  type PendingNote,
  type RejectedNote,
  type RemovedNote,
  takesReplies,
} from './state.ts';

/** How many times a note can be deferred; the next deferral escalates it instead. */
const MAX_DEFERRALS = 3;

interface Review {
  expectedVersion: number;
  claimedAt: string | null;
  batchId?: string;
}

export type ReviewCommand = Review &
  (
    | { type: 'ApproveNote'; parent: ParentFacts | null; rule?: string }
    | { type: 'RejectNote'; policy: string; message: string | null }
    | { type: 'EscalateNote'; why: string }
    | { type: 'DeferNote'; until: Date; lead: boolean }
    | { type: 'RemoveNote'; policy: string; message: string | null }
    | { type: 'RestoreNote'; moderatorId: string }
    | { type: 'KeepNote' }
    | {
        type: 'GrantAppeal';
        moderatorId: string;
        message: string | null;
        parent: ParentFacts | null;
      }
    | { type: 'UpholdAppeal'; moderatorId: string; message: string | null }
  );

export type DecisionResult = NewEvent<NoteEvents>[] | Refusal<'state_conflict' | 'role_required'>;

/** Decides a moderator's review of a note. */
export function decideReview(state: ExistingNote, command: ReviewCommand): DecisionResult {
  const refused = staleVersion(state, command.expectedVersion) ?? wrongStateFor(state, command);
  if (refused) return refused;
  const common = {
    note_id: state.noteId,
    claimed_at: command.claimedAt,
    ...(command.batchId ? { batch_id: command.batchId } : {}),
  };
  switch (command.type) {
    case 'ApproveNote':
      return approve(state as PendingNote, command, common);
    case 'RejectNote':
    case 'RemoveNote':
      return [
        {
          type: command.type === 'RejectNote' ? 'NoteRejected' : 'NoteRemoved',
          data: { ...common, policy: command.policy },
          personal: { message: command.message },
        },
      ];
    case 'EscalateNote':
      return [
        {
          type: 'NoteEscalated',
          data: { ...common, cause: 'moderator' },
          personal: { why: command.why },
        },
      ];
    case 'DeferNote':
      return mayPutOff(state as PendingNote, command)
        ? [
            {
              type: 'NoteDeferred',
              data: { ...common, until: command.until.toISOString() },
              personal: null,
            },
          ]
        : [
            {
              type: 'NoteEscalated',
              data: { ...common, cause: 'deferrals' },
              personal: { why: null },
            },
          ];
    case 'RestoreNote':
      if ((state as RemovedNote).decision.by.id === command.moderatorId) return secondPerson();
      return [{ type: 'NoteRestored', data: common, personal: null }];
    case 'KeepNote':
      return [
        {
          type: 'ReportsDismissed',
          data: { ...common, reports: [...(state as ApprovedNote).reports.open] },
          personal: null,
        },
      ];
    case 'GrantAppeal':
    case 'UpholdAppeal':
      return decideAppeal(state as RejectedNote | RemovedNote, command, common);
  }
}

/** A lead may always defer an escalated note, since there is no higher tier; others may not. */
const mayPutOff = ({ deferrals, tier }: PendingNote, { lead }: { lead: boolean }): boolean =>
  deferrals < MAX_DEFERRALS || (tier === 'lead' && lead);

type Common = { note_id: string; claimed_at: string | null; batch_id?: string };

function approve(
  state: PendingNote,
  { parent, rule }: Extract<ReviewCommand, { type: 'ApproveNote' }>,
  common: Common,
): DecisionResult {
  if (state.parentId !== null && !takesReplies(parent, state.experience))
    return conflict('parent_not_public');
  return [
    {
      type: 'NoteApproved',
      data: {
        ...common,
        parent_author_id: parent?.member_id ?? null,
        ...(rule ? { rule } : {}),
      },
      personal: null,
    },
  ];
}

function decideAppeal(
  state: RejectedNote | RemovedNote,
  command: Extract<ReviewCommand, { type: 'GrantAppeal' | 'UpholdAppeal' }>,
  common: Common,
): DecisionResult {
  const { appeal, decision } = state;
  if (appeal.status !== 'open') return wrongState(state);
  if (decision.by.id === command.moderatorId) return secondPerson();
  const data = {
    ...common,
    appeal_id: appeal.appealId,
    of: decision.eventId,
    member_id: appeal.memberId,
  };
  const personal = { message: command.message };
  if (command.type === 'UpholdAppeal') return [{ type: 'AppealUpheld', data, personal }];
  const first = state.status === 'rejected';
  const parent_author_id = first ? (command.parent?.member_id ?? null) : null;
  return [
    {
      type: 'AppealGranted',
      data: { ...data, parent_id: state.parentId, parent_author_id },
      personal,
    },
  ];
}

function wrongStateFor(
  state: ExistingNote,
  { type }: ReviewCommand,
): Refusal<'state_conflict'> | null {
  const fits = {
    ApproveNote: state.status === 'pending',
    RejectNote: state.status === 'pending',
    EscalateNote: state.status === 'pending',
    DeferNote: state.status === 'pending',
    RemoveNote: state.status === 'approved',
    RestoreNote: state.status === 'removed' && !state.erased,
    KeepNote: state.status === 'approved' && state.reports.open.length > 0,
    GrantAppeal: 'appeal' in state && state.appeal.status === 'open',
    UpholdAppeal: 'appeal' in state && state.appeal.status === 'open',
  }[type];
  return fits ? null : wrongState(state);
}

/** Refuses a decision unless the expected version is the current version of the note. */
export function staleVersion(
  state: ExistingNote,
  expected: number | null,
): Refusal<'state_conflict'> | null {
  if (expected === null || expected === state.version) return null;
  return conflict('version_mismatch', {
    current_state: state.status,
    current_version: state.version,
  });
}

function secondPerson(): Refusal<'state_conflict'> {
  return conflict('second_person_required');
}
