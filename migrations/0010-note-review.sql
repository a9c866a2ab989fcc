-- What a review says of a note beside its state, and the indexes that each view of the queue walks.
ALTER TABLE notes
  -- 'lead' sorts before 'normal': a lead's own queue begins with what was escalated.
  ADD COLUMN tier text NOT NULL DEFAULT 'normal',
  ADD COLUMN deferred_until timestamptz,
  -- Since when, and by which moderator, the note is what it is; null while it is pending.
  ADD COLUMN settled_at timestamptz,
  ADD COLUMN settled_by uuid,
  -- The oldest report that waits; null where none does.
  ADD COLUMN reported_at timestamptz,
  -- Of the decision that stands: null, open, upheld or over.
  ADD COLUMN appeal text,
  ADD COLUMN appealed_at timestamptz,
  ADD COLUMN erased_at timestamptz;

ALTER TABLE note_decisions
  ADD COLUMN version integer NOT NULL DEFAULT 0,
  ADD COLUMN policy text,
  ADD COLUMN message text,
  ADD COLUMN batch_id uuid,
  ADD COLUMN told_at timestamptz;

UPDATE notes n SET settled_at = d.decided_at, settled_by = d.moderator_id
  FROM note_decisions d
  WHERE d.note_id = n.note_id AND d.undone_at IS NULL AND n.state <> 'pending';
UPDATE note_decisions d
  SET version = e.stream_version, policy = e.data->>'policy', message = e.personal->>'message'
  FROM events e
  WHERE e.event_id = d.event_id;

DROP INDEX notes_pending;
CREATE INDEX notes_pending ON notes (tier, submitted_at, note_id) WHERE state = 'pending';
CREATE INDEX notes_reported ON notes (reported_at, note_id)
  WHERE state = 'approved' AND reported_at IS NOT NULL;
CREATE INDEX notes_appealed ON notes (appealed_at, note_id) WHERE appeal = 'open';
CREATE INDEX notes_decided ON notes (settled_at DESC, note_id)
  WHERE state IN ('approved', 'rejected', 'removed');
CREATE INDEX notes_appealable ON notes (settled_at)
  WHERE state IN ('rejected', 'removed') AND appeal IS NULL AND member_id IS NOT NULL;
CREATE INDEX notes_erasable ON notes (state, settled_at)
  WHERE state IN ('rejected', 'removed', 'withdrawn') AND erased_at IS NULL;
CREATE INDEX note_decisions_of_batch ON note_decisions (batch_id) WHERE batch_id IS NOT NULL;
