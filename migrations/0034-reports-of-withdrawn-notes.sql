-- Withdrawing a note that was rejected, before its author was told, left a guest's report as removed.
UPDATE note_reports r SET state = 'withdrawn', settled_by_event = e.event_id
FROM notes n JOIN events e ON e.owner_id = n.owner_id AND e.stream_id = 'note-' || n.note_id
  AND e.type = 'NoteWithdrawn'
WHERE n.note_id = r.note_id AND n.state = 'withdrawn' AND r.state = 'removed'
  AND e.data->'reports' @> jsonb_build_array(jsonb_build_object('report_id', r.report_id));
