-- Deferred notes are a view of the queue, walked by the time to which they are deferred.
CREATE INDEX notes_deferred ON notes (deferred_until, note_id)
  WHERE state = 'pending' AND deferred_until IS NOT NULL;
-- The appeals that a moderator may answer are all but those against their own decisions. Its second
-- condition keeps the planner from walking it for the view of all appeals.
CREATE INDEX notes_appealed_by_decider ON notes (settled_by)
  WHERE appeal = 'open' AND settled_by IS NOT NULL;

-- Deferrals and escalations are decisions that can be undone, so they are listed like the others.
INSERT INTO note_decisions (event_id, note_id, moderator_id, decision, decided_at, version, message,
  batch_id, claimed_at)
SELECT event_id, (data->>'note_id')::uuid,
  CASE WHEN actor->>'type' = 'moderator' THEN (actor->>'id')::uuid END,
  CASE type WHEN 'NoteDeferred' THEN 'deferred' ELSE 'escalated' END, recorded_at, stream_version,
  personal->>'why', (data->>'batch_id')::uuid, (data->>'claimed_at')::timestamptz
FROM events WHERE type IN ('NoteDeferred', 'NoteEscalated');
