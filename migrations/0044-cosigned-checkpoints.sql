-- Checkpoints that witnesses have co-signed (docs/verification/sealed-log.md#witnesses). Locks seal_trees for
-- milliseconds; it has one row for each epoch.

-- Primary: the job that seals the log publishes its last checkpoint once it has asked the witnesses, with the
-- signatures that it got. Null without witnesses: then the last checkpoint is public as soon as it is stored.
ALTER TABLE seal_trees
  ADD COLUMN published_checkpoint text,
  ADD COLUMN published_size bigint,
  ADD COLUMN published_position bigint,
  ADD COLUMN missing_witnesses text;   -- names of witnesses that have not signed it, and why; null if none is missing
