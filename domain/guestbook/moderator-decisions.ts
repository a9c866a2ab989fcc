import type { EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { Refusal } from '../../platform/refusal.ts';
import { conflict, wrongState, wrongVersion } from '../conflict.ts';
import {
  type ExistingNote,
  type NoteEvents,
  type ParentFacts,
  type PendingNote,
  type RejectedNote,
  type RemovedNote,
  settledReports,
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

export type DecisionResult = EventsOrRefusal<NoteEvents, 'state_conflict' | 'role_required'>;

/** What decides which reviews a note takes, read from its stream or from its row. */
export interface ReviewableNote {
  status: string;
  erased: boolean;
  /** Whether reports on the note are open. */
  reported: boolean;
  /** Whether an appeal against its rejection or removal is open. */
  appealed: boolean;
  /** The moderator who rejected or removed the note. */
  decidedBy: string | null;
  /** Whether the note answers a note that takes no replies. */
  parentHidden: boolean;
}

interface ReviewRule {
  fits(note: ReviewableNote): boolean;
  /** Only a moderator who did not make the decision in force may review it. */
  secondPerson?: true;
  /** Makes the note public, so its parent has to be. */
  publishes?: true;
}

const isPending = ({ status }: ReviewableNote) => status === 'pending';
const isAppealed = ({ appealed }: ReviewableNote) => appealed;

const REVIEWS: Readonly<Record<ReviewCommand['type'], ReviewRule>> = {
  ApproveNote: { fits: isPending, publishes: true },
  RejectNote: { fits: isPending },
  EscalateNote: { fits: isPending },
  DeferNote: { fits: isPending },
  RemoveNote: { fits: ({ status }) => status === 'approved' },
  KeepNote: { fits: ({ status, reported }) => status === 'approved' && reported },
  RestoreNote: {
    fits: ({ status, erased }) => status === 'removed' && !erased,
    secondPerson: true,
  },
  GrantAppeal: { fits: isAppealed, secondPerson: true },
  UpholdAppeal: { fits: isAppealed, secondPerson: true },
};

/**
 * Returns why a note does not take a review by this moderator, or null if it does. The decider and
 * the buttons of the console both ask this rule; `ROLES_BY_ACTION` says which roles may review.
 */
export function reviewRefusal(
  note: ReviewableNote,
  type: ReviewCommand['type'],
  moderatorId: string | null,
): 'wrong_state' | 'second_person_required' | 'parent_not_public' | null {
  const { fits, secondPerson, publishes } = REVIEWS[type];
  if (!fits(note)) return 'wrong_state';
  if (secondPerson && note.decidedBy === moderatorId) return 'second_person_required';
  return publishes && note.parentHidden ? 'parent_not_public' : null;
}

function toReviewable(state: ExistingNote, command: ReviewCommand): ReviewableNote {
  const parent = 'parent' in command ? command.parent : null;
  return {
    status: state.status,
    erased: 'erased' in state && state.erased,
    reported: reportsUpTo(state, command.expectedVersion).length > 0,
    appealed: 'appeal' in state && state.appeal.status === 'open',
    decidedBy: ('decision' in state && state.decision.by.id) || null,
    parentHidden: state.parentId !== null && !takesReplies(parent, state.experience),
  };
}

/** Decides a moderator's review of a note. */
export function decideReview(state: ExistingNote, command: ReviewCommand): DecisionResult {
  const stale = versionRefusal(state, command.expectedVersion);
  if (stale) return stale;
  const moderatorId = 'moderatorId' in command ? command.moderatorId : null;
  const refused = reviewRefusal(toReviewable(state, command), command.type, moderatorId);
  if (refused) return refused === 'wrong_state' ? wrongState(state) : conflict(refused);
  const common = {
    note_id: state.noteId,
    claimed_at: command.claimedAt,
    ...(command.batchId ? { batch_id: command.batchId } : {}),
  };
  switch (command.type) {
    case 'ApproveNote':
      return [
        {
          type: 'NoteApproved',
          data: {
            ...common,
            parent_author_id: command.parent?.member_id ?? null,
            ...(command.rule ? { rule: command.rule } : {}),
          },
          personal: null,
        },
      ];
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
      return [{ type: 'NoteRestored', data: common, personal: null }];
    case 'KeepNote':
      return [
        {
          type: 'ReportsDismissed',
          data: { ...common, undoable: true, ...dismissal(state, command.expectedVersion) },
          personal: null,
        },
      ];
    case 'GrantAppeal':
    case 'UpholdAppeal':
      return decideAppeal(state as RejectedNote | RemovedNote, command, common);
  }
}

/** The open reports that a moderator has seen who read the note at this version. */
const reportsUpTo = ({ reports }: ExistingNote, version: number) =>
  reports.open.filter((report) => report.version <= version);

/** Settles the reports that the moderator has seen; later reports stay open. */
function dismissal(state: ExistingNote, version: number) {
  const reports = settledReports(reportsUpTo(state, version));
  const next = state.reports.open.find((report) => report.version > version);
  return { reports, ...(next ? { open_since: next.at.toISOString() } : {}) };
}

/** A lead may always defer an escalated note, since there is no higher tier; others may not. */
const mayPutOff = ({ deferrals, tier }: PendingNote, { lead }: { lead: boolean }): boolean =>
  deferrals < MAX_DEFERRALS || (tier === 'lead' && lead);

type Common = { note_id: string; claimed_at: string | null; batch_id?: string };

function decideAppeal(
  state: RejectedNote | RemovedNote,
  command: Extract<ReviewCommand, { type: 'GrantAppeal' | 'UpholdAppeal' }>,
  common: Common,
): DecisionResult {
  const { appeal, decision } = state;
  if (appeal.status !== 'open') return wrongState(state);
  const data = {
    ...common,
    undoable: true as const,
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

/**
 * Refuses a decision if another decision, or another text, came after the version that the moderator
 * read; or if there is no such version. Null accepts any version.
 */
export function versionRefusal(
  state: ExistingNote,
  expected: number | null,
): Refusal<'state_conflict'> | null {
  if (expected === null) return null;
  if (expected >= state.reviewVersion && expected <= state.version) return null;
  return wrongVersion(state, { current_state: state.status });
}
