-- What the erasure of a member finds its work by, and no statistics of names and texts.
ALTER TABLE members ADD COLUMN erased_at timestamptz;
CREATE INDEX members_to_erase ON members (deactivated_at)
  WHERE state = 'deactivated' AND erased_at IS NULL;

CREATE INDEX sessions_of_member ON sessions (member_id, session_id);

-- Words of a member in streams that another owns, such as a report on another's note.
CREATE INDEX events_words_elsewhere ON events ((actor->>'id'))
  WHERE personal IS NOT NULL AND actor->>'type' = 'member' AND actor->>'id' <> owner_id::text;

-- ANALYZE would copy values of these columns into pg_statistic, where they outlive their erasure.
-- A projection names its own (`texts`), and a rebuild keeps them so.
ALTER TABLE events ALTER COLUMN personal SET STATISTICS 0;
ALTER TABLE receipts ALTER COLUMN reply SET STATISTICS 0, ALTER COLUMN bound SET STATISTICS 0;
ALTER TABLE members ALTER COLUMN handle SET STATISTICS 0;
ALTER TABLE notes ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN message SET STATISTICS 0;
ALTER TABLE note_screenings ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE moderators ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE profiles
  ALTER COLUMN display_name SET STATISTICS 0, ALTER COLUMN summary SET STATISTICS 0,
  ALTER COLUMN links SET STATISTICS 0, ALTER COLUMN capabilities SET STATISTICS 0;
ALTER TABLE artifacts
  ALTER COLUMN title SET STATISTICS 0, ALTER COLUMN content_hash SET STATISTICS 0,
  ALTER COLUMN packet SET STATISTICS 0;
ALTER TABLE cases
  ALTER COLUMN title SET STATISTICS 0, ALTER COLUMN summary SET STATISTICS 0,
  ALTER COLUMN objective SET STATISTICS 0, ALTER COLUMN acceptance_criteria SET STATISTICS 0;
ALTER TABLE case_submissions ALTER COLUMN summary SET STATISTICS 0;
ALTER TABLE case_reviews ALTER COLUMN comment SET STATISTICS 0;
ALTER TABLE case_notes ALTER COLUMN message SET STATISTICS 0;
