-- Notes that an appeal against their rejection made public had no entry in the public record.
INSERT INTO activity (entry_id, type, occurred_at, actor, subject_type, subject_id)
  SELECT g.event_id, 'note.approved', g.decided_at, '{"type": "moderator"}', 'note', g.note_id
  FROM note_appeals a
  JOIN note_decisions r ON r.event_id = a.of AND r.decision = 'rejected'
  JOIN note_decisions g ON g.note_id = a.note_id AND g.decision = 'granted'
    AND g.decided_at = a.decided_at
  WHERE a.state = 'granted';

-- The feed tells when a session or credential ends in Unix seconds, as every other answer does.
UPDATE feed SET data = jsonb_set(data, '{expires_at}',
    to_jsonb(floor(extract(epoch FROM (data->>'expires_at')::timestamptz))::bigint))
  WHERE type IN ('credential.created', 'session.started')
    AND jsonb_typeof(data->'expires_at') = 'string';
