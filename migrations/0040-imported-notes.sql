-- Imported notes --------------------------------------------------------------------------------------

-- The operator imports comments of other programs as notes (docs/operating/arrive-and-leave.md). Locks: notes for
-- a moment; rewrites nothing. A process of the release before shows the time of the import as that of the note.
ALTER TABLE notes ADD COLUMN written_at timestamptz;  -- when an imported note was written, as its source says; null for all others

CREATE TABLE imported_notes (
  note_id uuid PRIMARY KEY,
  import_id uuid NOT NULL,          -- of the file, so that the same file again continues the same import
  source text NOT NULL,             -- isso, disqus, commento, remark42, wordpress
  source_key text NOT NULL,         -- SHA-256 of the source, its site and the comment's id there
  imported_at timestamptz NOT NULL
);
-- Each comment once, until its import is undone.
CREATE UNIQUE INDEX imported_notes_source ON imported_notes (source_key);
CREATE INDEX imported_notes_import ON imported_notes (import_id, note_id);
