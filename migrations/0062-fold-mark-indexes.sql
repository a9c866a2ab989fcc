-- Notes of the queue that have rows of their own, and the notes of each fold (services/moderation/folds/folds.ts;
-- verbatim). `deferred_until` is included so that a fold is counted by its index alone.
-- Locks: notes against writes while two indexes are built (about 1 s for a million rows of each index).
CREATE INDEX notes_unfolded ON notes (submitted_at, note_id)
  WHERE state = 'pending' AND tier = 'normal' AND fold_id IS NULL;
CREATE INDEX notes_folded ON notes (fold_id, submitted_at, note_id) INCLUDE (deferred_until)
  WHERE state = 'pending' AND tier = 'normal' AND fold_id IS NOT NULL;
