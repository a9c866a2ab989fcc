-- Marks of folded notes: the queue and the claim of the next note never read a note that shares the row of another.

-- Beside the log (projections/screening/fold-marks.ts): no event has it, so it is not compared with the log, and a rebuild
-- copies it. A mark counts only while its fold is not over. Locks: notes for a moment; rewrites the ten rows of
-- note_folds. A process of the release before gives no marks: notes that it screens have rows of their own.
ALTER TABLE notes ADD COLUMN fold_id uuid;  -- of the fold (note_folds) in whose row the note waits; null for nearly all

-- The place of the last waiting note that a worker has compared with the fold; it continues from there.
ALTER TABLE note_folds
  ADD COLUMN fold_id uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN compared_at timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN compared_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000';
