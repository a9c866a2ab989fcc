-- Search ---------------------------------------------------------------------------------------------

-- The words of public texts, split by the service (platform/words.ts) and written with the texts, so
-- that every server finds the same words whatever its locale. The worker fills the column in rows of an earlier
-- release (workers/search/split-words.ts). Statistics would keep words of erased texts, so they are off.
ALTER TABLE notes ADD COLUMN words tsvector;
ALTER TABLE profiles ADD COLUMN words tsvector;
ALTER TABLE artifacts ADD COLUMN words tsvector;
ALTER TABLE cases ADD COLUMN words tsvector;
ALTER TABLE notes ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE profiles ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE artifacts ALTER COLUMN words SET STATISTICS 0;
ALTER TABLE cases ALTER COLUMN words SET STATISTICS 0;

-- Candidates of a search (projections/search/search.ts; verbatim).
CREATE INDEX notes_words ON notes USING gin (words) WHERE state = 'approved';
CREATE INDEX profiles_words ON profiles USING gin (words) WHERE state = 'published';
CREATE INDEX artifacts_words ON artifacts USING gin (words) WHERE state = 'published';
CREATE INDEX cases_words ON cases USING gin (words) WHERE NOT removed AND NOT author_gone;

-- Rows of a process of an earlier release: texts without words, or words whose text was erased
-- (projections/search/unsplit.ts; verbatim). Empty after the upgrade.
CREATE INDEX notes_unsplit ON notes (note_id) WHERE (words IS NULL) <> (message IS NULL);
CREATE INDEX profiles_unsplit ON profiles (member_id)
  WHERE (words IS NULL) <> (display_name IS NULL);
CREATE INDEX artifacts_unsplit ON artifacts (artifact_id) WHERE (words IS NULL) <> (title IS NULL);
CREATE INDEX cases_unsplit ON cases (case_id) WHERE (words IS NULL) <> (title IS NULL);
