import type { Fold } from '../queue/item.ts';
import type { FoldRow } from './folds.ts';

/** A fold as moderators read it. */
export const foldBody = (row: FoldRow): Fold => ({
  kind: row.kind,
  note_id: row.note_id,
  notes: row.notes,
  moderator: { id: row.moderator_id, name: row.moderator_name ?? '' },
  ends_at: row.ends_at.toISOString(),
});
