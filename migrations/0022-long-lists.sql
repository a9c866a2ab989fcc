-- Pages that read a long log from end to end, each with an index that leads to them alone.

-- What was decided of one author: an author with few notes is little of all that was decided. And
-- how much of it was approved, which an item of the queue says.
CREATE INDEX notes_decided_of_member ON notes (member_id, settled_at DESC, note_id) INCLUDE (state)
  WHERE member_id IS NOT NULL AND state IN ('approved', 'rejected', 'removed');
CREATE INDEX notes_decided_of_guest ON notes (name, settled_at DESC, note_id)
  WHERE member_id IS NULL AND state IN ('approved', 'rejected', 'removed');

-- Activity of one type: in an order that the index of all types does not have.
DROP INDEX activity_by_type;
CREATE INDEX activity_by_type ON activity (type, (occurred_at AT TIME ZONE 'UTC'), entry_id);

-- The queue: what waits is counted whole, which read each of these notes for the time it is put off to.
DROP INDEX notes_pending;
CREATE INDEX notes_pending ON notes (tier, submitted_at, note_id) INCLUDE (deferred_until)
  WHERE state = 'pending';
