-- A moderator's look at a note's thread, and at a guest's notes by name, read the whole table of notes.
CREATE INDEX notes_thread ON notes (parent_id, submitted_at DESC) WHERE parent_id IS NOT NULL;
CREATE INDEX notes_of_guest ON notes (name) WHERE member_id IS NULL;
