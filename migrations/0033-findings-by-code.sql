-- The notes in which screening found something, by what it found: a queue that is asked for a rare
-- finding begins here, and need not look its notes up one by one.
CREATE TABLE note_findings (
  note_id uuid NOT NULL,
  code text NOT NULL,
  PRIMARY KEY (note_id, code)
);
INSERT INTO note_findings (note_id, code)
SELECT DISTINCT note_id, finding->>'code'
FROM note_screenings, jsonb_array_elements(findings) finding;
CREATE UNIQUE INDEX note_findings_by_code ON note_findings (code, note_id);

DROP INDEX note_screenings_with_findings;
