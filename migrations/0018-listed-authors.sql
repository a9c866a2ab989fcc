-- Public lists skip the records of a closed account by their index alone: its author is in the index.
-- Until a worker has ended the 170,000 records of such a member, a list read each of their rows.
-- Entries of the activity are left out of its indexes while their subject is removed, too.
-- Locks: activity for one rewrite of its rows, about 30 s for a million of them; then each table against
-- writes while its indexes are built, about 1 s for a million rows of each index.
-- Read model (projections/activity/activity.ts).
ALTER TABLE activity
  ADD COLUMN author_id uuid,          -- member who wrote the subject; null: a guest
  ADD COLUMN taken_down boolean NOT NULL DEFAULT false; -- removed by a moderator
UPDATE activity a SET author_id = found.author_id, taken_down = found.removed
  FROM (SELECT entry_id, CASE e.subject_type
        WHEN 'profile' THEN e.subject_id
        WHEN 'artifact' THEN f.author_id
        WHEN 'case' THEN c.author_id
        ELSE nullif(n.owner_id, n.note_id) END AS author_id,
      NOT e.hidden AND coalesce(p.state = 'removed' OR f.state = 'removed' OR c.removed
        OR n.state = 'removed', false) AS removed
    FROM activity e
    LEFT JOIN profiles p ON e.subject_type = 'profile' AND p.member_id = e.subject_id
    LEFT JOIN artifacts f ON e.subject_type = 'artifact' AND f.artifact_id = e.subject_id
    LEFT JOIN cases c ON e.subject_type = 'case' AND c.case_id = e.subject_id
    LEFT JOIN notes n ON e.subject_type = 'note' AND n.note_id = e.subject_id) found
  WHERE a.entry_id = found.entry_id;

-- The former indexes, found by their definition: a rebuild by an earlier release named indexes anew.
DO $$ DECLARE former record; BEGIN
  FOR former IN SELECT i.indexrelid::regclass AS name FROM pg_index i JOIN (VALUES
      ('activity', 'btree (occurred_at, entry_id) WHERE (NOT hidden)'),
      ('activity', 'btree (type, (%occurred_at%), entry_id) WHERE (NOT hidden)'),
      ('cases', 'btree (created_at, case_id) WHERE %'),
      ('cases', 'btree (state, created_at, case_id) WHERE %'),
      ('artifacts', 'btree (created_at DESC, artifact_id DESC) WHERE %'),
      ('artifacts', 'btree (kind, created_at DESC, artifact_id DESC) WHERE %'),
      ('notes', 'btree (experience, approved_at DESC, note_id) WHERE %'),
      ('notes', 'btree (parent_id, approved_at DESC, note_id) WHERE %'),
      ('notes', 'btree (experience, parent_id, settled_at DESC, note_id) WHERE %'))
    of (heap, definition) ON i.indrelid = of.heap::regclass
      AND substring(pg_get_indexdef(i.indexrelid) FROM 'USING (.*)') LIKE of.definition
  LOOP EXECUTE 'DROP INDEX ' || former.name; END LOOP;
END $$;
CREATE INDEX activity_newest ON activity (occurred_at, entry_id) INCLUDE (type, author_id)
  WHERE NOT hidden AND NOT taken_down;
CREATE INDEX activity_by_type ON activity (type, occurred_at, entry_id) INCLUDE (author_id)
  WHERE NOT hidden AND NOT taken_down;
CREATE INDEX cases_newest ON cases (created_at, case_id) INCLUDE (author_id)
  WHERE NOT removed AND NOT author_gone;
CREATE INDEX cases_by_state ON cases (state, created_at, case_id) INCLUDE (author_id, lease_expires_at)
  WHERE NOT removed AND NOT author_gone;
CREATE INDEX artifacts_published ON artifacts (created_at DESC, artifact_id DESC) INCLUDE (author_id)
  WHERE state = 'published';
CREATE INDEX artifacts_published_of_kind ON artifacts (kind, created_at DESC, artifact_id DESC)
  INCLUDE (author_id) WHERE state = 'published';
CREATE INDEX notes_top_level ON notes (experience, approved_at DESC, note_id) INCLUDE (member_id)
  WHERE state = 'approved' AND parent_id IS NULL;
CREATE INDEX notes_replies ON notes (parent_id, approved_at DESC, note_id) INCLUDE (member_id)
  WHERE state = 'approved' AND parent_id IS NOT NULL;
CREATE INDEX notes_public_since ON notes (experience, parent_id, settled_at DESC, note_id)
  INCLUDE (member_id) WHERE state = 'approved';
