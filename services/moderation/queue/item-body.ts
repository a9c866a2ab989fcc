import {
  type ReviewCommand,
  reviewRefusal,
} from '../../../domain/guestbook/moderator-decisions.ts';
import { takesReplies } from '../../../domain/guestbook/state.ts';
import { ACTIONS, type Action, LEADS, ROLES_BY_ACTION } from '../../../domain/moderation/roles.ts';
import type { Item } from './item.ts';
import { claimBody, decisionBody, type ReviewingModerator, reportBody } from './item-parts.ts';
import type { ItemRow } from './item-rows.ts';
import { screeningBody } from './screening.ts';

const DAY_SECONDS = 86_400;

const time = (at: Date | string): string => new Date(at).toISOString();

/** A note as `reviewer` sees it, with their allowed actions; `itemBodies` adds look-alikes and the fold. */
export function itemBody(
  row: ItemRow,
  reviewer: ReviewingModerator,
): Omit<Item, 'look_alikes' | 'fold'> {
  const { me } = reviewer;
  return {
    id: row.note_id,
    state: row.state,
    tier: row.tier,
    experience: row.experience,
    text: row.message ?? '',
    erased: row.erased_at !== null,
    author: {
      kind: row.attribution,
      name: (row.attribution === 'member' ? row.handle : row.name) ?? '',
      member_id: row.member_id,
      approved: row.approved,
      rejected: row.rejected,
    },
    parent: row.parent_id
      ? { id: row.parent_id, text: row.parent_message ?? '', public: parentPublic(row) }
      : null,
    received_at: time(row.submitted_at),
    age_seconds: row.age_seconds,
    past_due: row.state === 'pending' && row.age_seconds > DAY_SECONDS,
    deferred_until: isDeferred(row) ? time(row.deferred_until) : null,
    version: row.version,
    screening: screeningBody(row),
    claim: claimBody(row, me),
    reports: row.reports.map(reportBody),
    guest_reporters: row.guest_reporters,
    same_address: row.same_address,
    appeal: row.open_appeal && {
      id: row.open_appeal.appeal_id,
      state: row.open_appeal.state,
      text: row.open_appeal.text ?? '',
      opened_at: time(row.open_appeal.opened_at),
    },
    decision: standingBody(row, reviewer),
    allowed_actions: allowedActions(row, me),
  };
}

const UNDOABLE: readonly string[] = ['approved', 'rejected', 'removed', 'deferred'];
/** Not those of earlier releases, which announced themselves. */
const ANSWERS: readonly string[] = ['kept', 'granted', 'upheld'];

/** Whether a pending note is deferred to a time that has not come yet. */
const isDeferred = (row: ItemRow): row is ItemRow & { deferred_until: Date } =>
  row.state === 'pending' && row.deferred_until !== null && row.deferred_until > row.now;

function parentPublic(row: ItemRow): boolean {
  return takesReplies(
    {
      state: row.parent_state ?? '',
      experience: row.parent_experience ?? '',
      parent_id: row.parent_parent_id,
    },
    row.experience,
  );
}

function standingBody(row: ItemRow, reviewer: ReviewingModerator): Item['decision'] {
  if (!row.decision) return null;
  const { decision, moderator_id, decided_at, told_at } = row.decision;
  if (decision === 'deferred' && !isDeferred(row)) return null;
  const undoable =
    // An escalation by the service, for age, cannot be undone: the service would escalate again.
    decision === 'escalated'
      ? moderator_id !== null
      : UNDOABLE.includes(decision) || (ANSWERS.includes(decision) && told_at !== decided_at);
  const answers = decision === 'granted' || decision === 'upheld';
  const reviewed = answers ? row.open_appeal?.against : null;
  const body = decisionBody(
    row.decision,
    { undoable, appealed: row.appeal === 'open', reviewed: reviewed ?? null },
    row.now,
    reviewer,
  );
  return { ...body, undo_allowed: body.undo_allowed && row.erased_at === null };
}

const COMMANDS: Readonly<Record<Action, ReviewCommand['type']>> = {
  approve: 'ApproveNote',
  grant: 'GrantAppeal',
  keep: 'KeepNote',
  restore: 'RestoreNote',
  reject: 'RejectNote',
  uphold: 'UpholdAppeal',
  remove: 'RemoveNote',
  escalate: 'EscalateNote',
  defer: 'DeferNote',
};

/** The buttons of the console, by the rule of the decider; a decision checks it again. */
function allowedActions(row: ItemRow, { moderatorId, role }: ReviewingModerator['me']): Action[] {
  const heldByOther = row.holder_id !== null && row.holder_id !== moderatorId;
  const note = {
    status: row.state,
    erased: row.erased_at !== null,
    reported: row.reported_at !== null,
    appealed: row.appeal === 'open',
    decidedBy: row.settled_by,
    parentHidden: row.parent_id !== null && !parentPublic(row),
  };
  return ACTIONS.filter(
    (action) =>
      ROLES_BY_ACTION[action].includes(role) &&
      (!heldByOther || (action === 'remove' && LEADS.includes(role))) &&
      reviewRefusal(note, COMMANDS[action], moderatorId) === null,
  );
}
