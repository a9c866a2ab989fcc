-- The sessions and credentials that live are few of all there were, and statistics may know of none.
-- The planner then thinks it cheapest to read an index of the living from end to end, for whatever
-- asks for one that lives; and a connection keeps to that until the next ANALYZE, however many live
-- by then. These two indexes serve what asks by their last condition, which is true of every row.
DROP INDEX sessions_expiry;
CREATE INDEX sessions_expiry ON sessions (expires_at)
  WHERE ended_at IS NULL AND expires_at < 'infinity';
DROP INDEX credentials_live;
CREATE INDEX credentials_expiry ON credentials (expires_at)
  WHERE state = 'active' AND expires_at < 'infinity';

-- So too the reports that nobody was told of, which are asked for by what was reported.
DROP INDEX record_reports_of_author;
CREATE INDEX record_reports_of_author ON record_reports (author_id);
