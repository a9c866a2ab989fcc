-- What workers found in notes: advice for moderators, and the index that finds look-alikes.
CREATE TABLE note_screenings (
  note_id uuid PRIMARY KEY,
  rules_version integer NOT NULL,
  band text NOT NULL,
  findings jsonb NOT NULL,
  words jsonb,
  screened_at timestamptz NOT NULL
);

-- Keyed hashes of a note's text and of its parts. Newest first, so that a lookup stops early.
CREATE TABLE note_fingerprints (
  hash bigint NOT NULL,
  screened_at timestamptz NOT NULL,
  note_id uuid NOT NULL,
  PRIMARY KEY (hash, screened_at, note_id)
);
CREATE INDEX note_fingerprints_of_note ON note_fingerprints (note_id);

-- What screening learns from: the decisions that stand, newest first.
CREATE INDEX note_decisions_standing ON note_decisions (decided_at DESC) WHERE undone_at IS NULL;
