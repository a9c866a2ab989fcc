-- Why: statistics count the notes of a time. As a tree this index could also give the order in which
-- notes wait, and the planner then walked through all that are decided; in blocks it cannot.
DROP INDEX notes_in_time;
CREATE INDEX notes_in_time ON notes
  USING brin (submitted_at timestamptz_minmax_multi_ops) WITH (autosummarize = on);
