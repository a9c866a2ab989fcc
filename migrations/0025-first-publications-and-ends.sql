-- Notes that an appeal against their rejection made public had no entry in the public record.
INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id)
  SELECT g.event_id, 'note.approved', g.decided_at, '{"type": "moderator"}', 'note', g.note_id
  FROM note_appeals a
  JOIN note_decisions r ON r.event_id = a.of AND r.decision = 'rejected'
  JOIN note_decisions g ON g.note_id = a.note_id AND g.decision = 'granted'
    AND g.decided_at = a.decided_at
  WHERE a.state = 'granted';
