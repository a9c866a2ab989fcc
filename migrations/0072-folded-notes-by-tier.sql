-- The notes of each fold, as in 0062, where the index has no `tier`. With the column that `notes_pending` begins with, no plan
-- walks along that one instead, and so along all waiting notes, if the table was analysed while none waited.
-- Locks: notes against writes while the index is built (about 1 s for a million notes), then against all for a moment.
CREATE INDEX notes_folded_by_tier ON notes (tier, fold_id, submitted_at, note_id) INCLUDE (deferred_until)
  WHERE state = 'pending' AND tier = 'normal' AND fold_id IS NOT NULL;
DROP INDEX notes_folded;
ALTER INDEX notes_folded_by_tier RENAME TO notes_folded;
