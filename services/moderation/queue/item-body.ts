import type { Role } from '../../../platform/http/principal.ts';
import { takesReplies } from '../../guestbook/state.ts';
import { ACTIONS, type Action, ROLES_BY_ACTION } from '../staff/roles.ts';
import { claimBody } from './claim-body.ts';
import { decisionBody, type ReviewingModerator } from './decision-body.ts';
import type { Item } from './item.ts';
import type { ItemRow } from './item-rows.ts';
import { reportBody } from './report-body.ts';
import { screeningBody } from './screening.ts';

const DAY_SECONDS = 86_400;

const time = (at: Date | string): string => new Date(at).toISOString();

/** A note as `reviewer` sees it, with their allowed actions; `itemBodies` adds look-alikes. */
export function itemBody(row: ItemRow, reviewer: ReviewingModerator): Omit<Item, 'look_alikes'> {
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

/** Whether a pending note is deferred to a time that has not come yet. */
const isDeferred = (row: ItemRow): row is ItemRow & { deferred_until: Date } =>
  row.state === 'pending' && row.deferred_until !== null && row.deferred_until > row.now;

function parentPublic(row: ItemRow): boolean {
  return takesReplies(
    {
      state: row.parent_state ?? '',
      experience: row.parent_experience ?? '',
      parent_id: row.parent_parent_id,
      member_id: null,
    },
    row.experience,
  );
}

function standingBody(row: ItemRow, reviewer: ReviewingModerator): Item['decision'] {
  if (!row.decision) return null;
  const { decision, moderator_id } = row.decision;
  if (decision === 'deferred' && !isDeferred(row)) return null;
  const undoable =
    // An escalation by the service, for age, cannot be undone: the service would escalate again.
    decision === 'escalated' ? moderator_id !== null : UNDOABLE.includes(decision);
  const body = decisionBody(row.decision, undoable, row.now, reviewer);
  return { ...body, undo_allowed: body.undo_allowed && row.erased_at === null };
}

const may = (role: Role, action: Action): boolean => ROLES_BY_ACTION[action].includes(role);

/** The note's own rules, repeated for the buttons of the console; a decision checks them again. */
function allowedActions(row: ItemRow, { moderatorId, role }: ReviewingModerator['me']): Action[] {
  if (row.holder_id !== null && row.holder_id !== moderatorId) return [];
  const pending = row.state === 'pending';
  const approved = row.state === 'approved';
  const appealed = row.appeal === 'open' && row.settled_by !== moderatorId;
  const fits: Record<Action, boolean> = {
    approve: pending && (row.parent_id === null || parentPublic(row)),
    grant: appealed,
    keep: approved && row.reported_at !== null,
    restore: row.state === 'removed' && !row.erased_at && row.settled_by !== moderatorId,
    reject: pending,
    uphold: appealed,
    remove: approved,
    escalate: pending,
    defer: pending,
  };
  return ACTIONS.filter((action) => fits[action] && may(role, action));
}
