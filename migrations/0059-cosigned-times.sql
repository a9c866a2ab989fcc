-- When each witness last co-signed a checkpoint (docs/operating/alerts.md#servicewitnessmissing). Locks seal_trees for
-- milliseconds; it has one row for each epoch.

-- Primary: a published checkpoint lacks the signature of a witness that was away, so it cannot say when that witness signed last.
ALTER TABLE seal_trees
  ADD COLUMN cosigned jsonb;   -- by the name of each witness that has co-signed one of this tree: the time; null if none has
