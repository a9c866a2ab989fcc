-- Closing an account ends the member alone; a worker then ends the member's records in batches. Until it
-- has, reads hide the records of the members in this index, which is nearly always empty.
-- Locks: members for one scan, notes against writes while its index is built (about 2 s for a million rows).
ALTER TABLE members ADD COLUMN ending text; -- keeps_notes, erases_notes; null once the records have ended
CREATE INDEX members_ending ON members (ending, member_id) WHERE ending IS NOT NULL;
-- A member's notes that are to end with the account, those that wait for review first
-- (projections/guestbook/notes-of-member.ts; verbatim).
CREATE INDEX notes_to_end ON notes (member_id, state, submitted_at, note_id)
  WHERE member_id IS NOT NULL AND erased_at IS NULL;

-- Entries of the activity whose subject never becomes public again are left out of the indexes of the list
-- (projections/activity/activity.ts; verbatim). Locks: activity against writes while two indexes are built;
-- the update locks the rows that it hides, about 20 s for a million of them.
ALTER TABLE activity ADD COLUMN hidden boolean NOT NULL DEFAULT false;
UPDATE activity a SET hidden = true FROM artifacts f
  WHERE a.subject_type = 'artifact' AND f.artifact_id = a.subject_id AND f.state = 'withdrawn'
    AND EXISTS (SELECT FROM events e WHERE e.owner_id = f.author_id
      AND e.stream_id = 'artifact-' || f.artifact_id AND e.type = 'ArtifactWithdrawn');
UPDATE activity a SET hidden = true FROM cases c
  WHERE a.subject_type = 'case' AND c.case_id = a.subject_id AND c.state = 'withdrawn';
UPDATE activity a SET hidden = true FROM notes n
  WHERE a.subject_type = 'note' AND n.note_id = a.subject_id
    AND (n.state = 'withdrawn' OR n.erased_at IS NOT NULL)
    AND EXISTS (SELECT FROM events e WHERE e.owner_id = n.owner_id
      AND e.stream_id = 'note-' || n.note_id AND e.type IN ('NoteWithdrawn', 'NoteErased'));
UPDATE activity a SET hidden = true
  WHERE a.subject_type = 'profile' AND NOT EXISTS (SELECT FROM profiles p
    WHERE p.member_id = a.subject_id AND p.published_at = a.occurred_at AND p.state <> 'withdrawn');
-- The former indexes, found by their definition: a rebuild by an earlier release named indexes anew.
DO $$ DECLARE former regclass; BEGIN
  FOR former IN SELECT indexrelid FROM pg_index WHERE indrelid = 'activity'::regclass
    AND substring(pg_get_indexdef(indexrelid) FROM 'USING (.*)') LIKE ANY (ARRAY[
      'btree (occurred_at, entry_id)', 'btree (type, (%occurred_at%), entry_id)'])
  LOOP EXECUTE 'DROP INDEX ' || former; END LOOP;
END $$;
CREATE INDEX activity_newest ON activity (occurred_at, entry_id) WHERE NOT hidden;
CREATE INDEX activity_by_type ON activity (type, (occurred_at AT TIME ZONE 'UTC'), entry_id)
  WHERE NOT hidden;
