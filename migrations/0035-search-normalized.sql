-- Words are found however their letters are composed: of one code point or several, wide or narrow.
-- Of ASCII there is nothing to compose, and of most other texts: to see that is cheaper than to do it.
CREATE FUNCTION composed(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(words) = char_length(words) OR words IS NFKC NORMALIZED THEN words
  ELSE normalize(words, NFKC) END;
DROP INDEX notes_search, profiles_search, artifacts_search, cases_search;
CREATE INDEX notes_search ON notes
  USING gin (to_tsvector('simple', composed(coalesce(message, '')))) WHERE state = 'approved';
CREATE INDEX profiles_search ON profiles
  USING gin (to_tsvector('simple',
    composed(coalesce(display_name, '') || ' ' || coalesce(summary, ''))))
  WHERE state = 'published';
CREATE INDEX artifacts_search ON artifacts
  USING gin (to_tsvector('simple',
    composed(coalesce(title, '') || ' ' || coalesce(packet->>'summary', ''))))
  WHERE state = 'published';
CREATE INDEX cases_search ON cases
  USING gin (to_tsvector('simple',
    composed(coalesce(title, '') || ' ' || coalesce(summary, '') || ' ' || coalesce(objective, ''))))
  WHERE NOT removed AND NOT author_gone;
-- Statistics of an index would keep words of texts that were erased.
ALTER INDEX notes_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX profiles_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX artifacts_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX cases_search ALTER COLUMN 1 SET STATISTICS 0;
