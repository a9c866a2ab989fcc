-- Why: beside the undo of a removal the log says that the note is public again. That was listed as a
-- decision of its own: it stood over the approval that may be undone, and was counted.
DELETE FROM note_decisions r USING note_decisions u
WHERE r.decision = 'restored' AND u.note_id = r.note_id AND u.decision = 'removed'
  AND u.undone_at = r.decided_at;

-- What a note was reported for before its approval was undone is settled by its rejection.
UPDATE note_reports r SET state = 'removed', settled_by_event = d.event_id
FROM note_decisions d
WHERE r.state = 'open' AND d.note_id = r.note_id AND d.decision = 'rejected' AND d.undone_at IS NULL;
