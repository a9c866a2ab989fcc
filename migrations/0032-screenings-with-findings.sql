-- A queue that is asked for a finding looks each of its notes up here: most notes have none.
CREATE UNIQUE INDEX note_screenings_with_findings ON note_screenings (note_id)
  WHERE findings <> '[]';
