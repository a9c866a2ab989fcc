import { notifiedAt, undoRefusal } from '../../../domain/publications/undo.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { unixSeconds } from '../../../platform/http/schemas.ts';
import type { Fold, Item } from './item.ts';
import type { FoldRow } from './live-folds.ts';

/** The live lease on an item, with its holder; all null if the item is unclaimed. */
export interface HolderColumns {
  lease_id: string | null;
  holder_id: string | null;
  holder_name: string | null;
  claimed_at: Date | null;
  expires_at: Date | null;
}

export function claimBody(
  { lease_id, holder_id, holder_name, claimed_at, expires_at }: HolderColumns,
  me: Pick<PrincipalOf<'moderator'>, 'moderatorId'>,
): Item['claim'] {
  if (!lease_id || !holder_id || !claimed_at || !expires_at) return null;
  return {
    lease_id,
    moderator: { id: holder_id, name: holder_name ?? '' },
    claimed_at: claimed_at.toISOString(),
    expires_at: unixSeconds(expires_at),
    mine: holder_id === me.moderatorId,
  };
}

/** The moderator who reads the item, and the length of the undo window in seconds. */
export interface ReviewingModerator {
  me: Pick<PrincipalOf<'moderator'>, 'moderatorId' | 'role'>;
  undoSeconds: number;
}

/** A decision in force, as a JSON row: its times are text. */
export interface StandingDecision<Word extends string> {
  event_id: string;
  decision: Word;
  policy: string | null;
  message: string | null;
  /** Null if the service decided by a rule. */
  moderator_id: string | null;
  moderator_name: string | null;
  decided_at: string;
  told_at: string | null;
}

/**
 * The API body of a decision. `undoable` says whether this kind of decision can be undone, `appealed`
 * whether an appeal against it is open, and `reviewed` whose decision it reviewed.
 */
export function decisionBody<Word extends string>(
  { decided_at, told_at, moderator_id, moderator_name, ...decision }: StandingDecision<Word>,
  {
    undoable,
    appealed = false,
    reviewed = null,
  }: { undoable: boolean; appealed?: boolean; reviewed?: string | null },
  now: Date,
  { me, undoSeconds }: ReviewingModerator,
) {
  const until = notifiedAt(new Date(decided_at), undoSeconds);
  const at = new Date(decided_at);
  const allowed = !undoRefusal({
    decision: { kind: decision.decision, moderatorId: moderator_id, at, appealed, reviewed },
    me,
    undoSeconds,
    now,
  });
  return {
    ...decision,
    moderator: moderator_id ? { id: moderator_id, name: moderator_name ?? '' } : null,
    decided_at: new Date(decided_at).toISOString(),
    undo_allowed: undoable && allowed,
    undo_until: undoable ? until.toISOString() : null,
    told_at: told_at && new Date(told_at).toISOString(),
  };
}

type Report = Item['reports'][number];

/** A report as a JSON row: its times are text. */
export type ReportJson = Omit<Report, 'id'> & { report_id: string };

export const reportBody = ({ report_id, reported_at, ...report }: ReportJson): Report => ({
  id: report_id,
  ...report,
  reported_at: new Date(reported_at).toISOString(),
});

/** A fold as moderators read it. */
export const foldBody = (row: FoldRow): Fold => ({
  kind: row.kind,
  note_id: row.note_id,
  notes: row.notes,
  moderator: { id: row.moderator_id, name: row.moderator_name ?? '' },
  ends_at: row.ends_at.toISOString(),
});
