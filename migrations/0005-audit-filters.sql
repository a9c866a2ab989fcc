-- The audit log by subject, by policy and by moderator (projections/moderation/audit.ts; verbatim): a
-- filter with few matches read the whole audit log. Commands wait while these indexes are made, each by
-- one scan of the log.
CREATE INDEX events_audit_of_subject ON events (right(stream_id, 37), position)
  WHERE actor->>'type' = 'moderator'
    OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
      'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased');
CREATE INDEX events_audit_of_policy ON events ((data->>'policy'), position)
  WHERE (actor->>'type' = 'moderator'
    OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
      'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased'))
    AND data->>'policy' IS NOT NULL;
CREATE INDEX events_audit_of_moderator ON events ((actor->>'id'), position)
  WHERE actor->>'type' = 'moderator';
