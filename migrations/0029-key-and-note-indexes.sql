-- The newest approved notes, of all experiences: where a search looks first.
CREATE INDEX notes_approved ON notes (approved_at, note_id) WHERE state = 'approved';
