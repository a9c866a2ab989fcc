import { notifiedAt, undoRefusal } from '../../../domain/publications/undo.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';

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

/** SQL that selects the latest decision in force as `row`; `where` calls the table `d`. */
export const standingDecision = (table: string, where: string): string =>
  `SELECT json_build_object('event_id', d.event_id,
      'moderator_id', d.moderator_id, 'moderator_name', dm.name, 'decision', d.decision,
      'policy', d.policy, 'message', d.message, 'decided_at', d.decided_at,
      'told_at', d.told_at) AS row
    FROM ${table} d LEFT JOIN moderators dm ON dm.moderator_id = d.moderator_id
    WHERE ${where} AND d.undone_at IS NULL
    ORDER BY d.decided_at DESC, d.event_id DESC LIMIT 1`;

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
