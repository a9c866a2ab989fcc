-- Search over the public record: words of what is shown, found through an index of each table.
CREATE INDEX notes_search ON notes
  USING gin (to_tsvector('simple', coalesce(message, ''))) WHERE state = 'approved';
CREATE INDEX profiles_search ON profiles
  USING gin (to_tsvector('simple', coalesce(display_name, '') || ' ' || coalesce(summary, '')))
  WHERE state = 'published';
CREATE INDEX artifacts_search ON artifacts
  USING gin (to_tsvector('simple', coalesce(title, '') || ' ' || coalesce(packet->>'summary', '')))
  WHERE state = 'published';
CREATE INDEX cases_search ON cases
  USING gin (to_tsvector('simple',
    coalesce(title, '') || ' ' || coalesce(summary, '') || ' ' || coalesce(objective, '')))
  WHERE NOT removed AND NOT author_gone;
-- Statistics of an index would keep words of texts that were erased.
ALTER INDEX notes_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX profiles_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX artifacts_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX cases_search ALTER COLUMN 1 SET STATISTICS 0;
