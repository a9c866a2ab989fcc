-- The notes in which screening found something, by what it found: a queue that is asked for a rare
-- finding begins here, and need not look its notes up one by one.
CREATE TABLE note_findings (
  code text NOT NULL,
  note_id uuid NOT NULL,
  PRIMARY KEY (code, note_id)
);
INSERT INTO note_findings (code, note_id)
SELECT DISTINCT finding->>'code', note_id
FROM note_screenings, jsonb_array_elements(findings) finding;
-- Not with the code: where most findings are of one, this would seem as good a way to those of another.
CREATE INDEX note_findings_of_note ON note_findings (note_id);

DROP INDEX note_screenings_with_findings;
