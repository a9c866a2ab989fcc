import type { FoldKind } from '../../../domain/moderation/words.ts';
import { named, type Sql } from '../../../platform/sql.ts';
import { HAS_MARK, IS_LIVE_FOLD } from '../../../projections/screening/fold-marks.ts';
import { DUE } from './queue.ts';

/** The most folds at a time: each costs every read of the queue a lookup. */
export const MAX_FOLDS = 10;
/** The most notes that are counted in the row of a fold. */
export const MAX_FOLDED = 250;

export interface FoldRow {
  kind: FoldKind;
  note_id: string;
  moderator_id: string;
  moderator_name: string | null;
  ends_at: Date;
  /** The oldest waiting note, which represents the others; null if none waits. */
  first_id: string | null;
  notes: number;
}

/**
 * The folds that are not over, each with the note that represents the others. Escalated and deferred notes, and members',
 * are in no fold.
 */
export function liveFolds(): Sql<FoldRow> {
  return named(`SELECT f.kind, f.note_id, f.moderator_id, m.name AS moderator_name, f.ends_at,
      waiting.first_id, waiting.notes
    FROM note_folds f LEFT JOIN moderators m USING (moderator_id)
    CROSS JOIN LATERAL (
      SELECT (array_agg(note_id ORDER BY submitted_at, note_id))[1] AS first_id,
        count(*)::int AS notes FROM (
          SELECT n.note_id, n.submitted_at FROM notes n
          WHERE ${HAS_MARK} AND n.fold_id = f.fold_id AND ${DUE}
          ORDER BY n.submitted_at, n.note_id LIMIT ${MAX_FOLDED}) counted) waiting
    WHERE ${IS_LIVE_FOLD} ORDER BY f.folded_at, f.note_id, f.kind LIMIT ${MAX_FOLDS}`);
}
