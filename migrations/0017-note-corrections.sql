-- Corrections -----------------------------------------------------------------------------------------

-- A member may correct a note that waits for review. Locks: notes for a moment; rewrites nothing.
ALTER TABLE notes ADD COLUMN corrections int NOT NULL DEFAULT 0;  -- how often the author corrected the text
