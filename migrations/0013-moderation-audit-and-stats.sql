-- Walks that the auditor and the statistics take, and how long each decision was worked on.

-- The condition is that of projections/audit.ts, word for word.
CREATE INDEX events_audit ON events (position) WHERE actor->>'type' = 'moderator'
  OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
    'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased');

ALTER TABLE note_decisions ADD COLUMN claimed_at timestamptz;
UPDATE note_decisions d SET claimed_at = (e.data->>'claimed_at')::timestamptz
  FROM events e JOIN notes n ON n.owner_id = e.owner_id
  WHERE e.stream_id = 'note-' || n.note_id AND d.note_id = n.note_id AND e.event_id = d.event_id
    AND e.data->>'claimed_at' IS NOT NULL;
CREATE INDEX note_decisions_in_time ON note_decisions (decided_at);
CREATE INDEX notes_in_time ON notes (submitted_at);
CREATE INDEX note_leases_expiry ON note_leases (expires_at);
