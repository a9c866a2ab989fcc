-- Feeds ----------------------------------------------------------------------------------------------

-- Feeds tell when a note became public, again after a restore, and when it ceased to be, also after an
-- undone approval. This reads the log twice, and writes only notes that ceased to be public; then it makes
-- seven indexes, each by one scan of notes, record_decisions or cases. Locks: notes against reads and writes
-- meanwhile (about 10 s for 50,000 notes in a log of 800,000 events, on a busy machine).
-- A process of the release before does not write the column; `npm run rebuild` fills it afterwards.
ALTER TABLE notes ADD COLUMN gone_at timestamptz;  -- since when a note that was public is not; null for all others
UPDATE notes n SET gone_at = CASE
    -- A removed note that its author withdrew was gone before; an undone approval leaves no time of approval.
    WHEN n.state = 'withdrawn' AND n.approved_at IS NOT NULL
      THEN least(n.settled_at, moved.removed_at, moved.closed_at)
    WHEN n.approved_at IS NOT NULL THEN n.settled_at
    ELSE moved.unapproved_at END
FROM (
  SELECT note_id, CASE WHEN removed > coalesce(restored, 0) THEN removed_at END AS removed_at,
    unapproved_at, closed_at
  FROM (
    SELECT note_id, max(position) FILTER (WHERE type = 'NoteRemoved') AS removed,
      max(recorded_at) FILTER (WHERE type = 'NoteRemoved') AS removed_at,
      max(position) FILTER (WHERE type IN ('NoteRestored', 'AppealGranted')
        OR decision = 'removed') AS restored,
      max(recorded_at) FILTER (WHERE decision = 'approved') AS unapproved_at,
      max(recorded_at) FILTER (WHERE type = 'MemberDeactivated') AS closed_at
    FROM (
      SELECT (data->>'note_id')::uuid AS note_id, type, position, recorded_at,
        CASE type WHEN 'DecisionUndone' THEN data->>'decision' END AS decision
      FROM events WHERE type IN ('NoteRemoved', 'NoteRestored', 'AppealGranted', 'DecisionUndone')
      UNION ALL
      SELECT w.note_id, 'NoteWithdrawn', 0, NULL, NULL FROM notes w WHERE w.state = 'withdrawn'
      UNION ALL
      SELECT w.note_id, e.type, e.position, e.recorded_at, NULL
      FROM events e JOIN notes w ON w.member_id = e.owner_id AND w.state = 'withdrawn'
        AND w.settled_at >= e.recorded_at
      WHERE e.type = 'MemberDeactivated' AND e.data->>'erase_notes' = 'true'
    ) change GROUP BY note_id
  ) last
) moved
WHERE n.note_id = moved.note_id AND n.state <> 'approved';

-- The entries of the feeds of a guestbook and of a note, and what was taken down, newest first.
CREATE INDEX notes_public_since ON notes (experience, parent_id, settled_at DESC, note_id)
  WHERE state = 'approved';
CREATE INDEX notes_gone ON notes (experience, gone_at DESC, note_id)
  WHERE parent_id IS NULL AND gone_at IS NOT NULL;
CREATE INDEX notes_replies_gone ON notes (parent_id, gone_at DESC, note_id)
  WHERE parent_id IS NOT NULL AND gone_at IS NOT NULL;
CREATE INDEX notes_gone_anywhere ON notes (gone_at DESC, note_id) WHERE gone_at IS NOT NULL;
-- The former indexes, found by their definition: a rebuild by an earlier release named indexes anew.
DO $$ DECLARE former regclass; BEGIN
  FOR former IN SELECT indexrelid FROM pg_index WHERE indrelid = 'notes'::regclass
    AND pg_get_indexdef(indexrelid) LIKE '%settled_at DESC, note_id) WHERE %withdrawn%'
  LOOP EXECUTE 'DROP INDEX ' || former; END LOOP;
END $$;
-- When feeds last changed other than by a new entry (projections/restored.ts; verbatim).
CREATE INDEX notes_restored ON notes (settled_at) WHERE state = 'approved' AND settled_at > approved_at;
CREATE INDEX record_decisions_reversed ON record_decisions ((coalesce(undone_at, decided_at)))
  WHERE decision = 'restored' OR decision = 'removed' AND undone_at IS NOT NULL;
CREATE INDEX cases_changed ON cases (updated_at);
