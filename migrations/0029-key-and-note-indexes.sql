-- The newest approved notes, of all experiences: where a search looks first.
CREATE INDEX notes_approved ON notes (approved_at, note_id) WHERE state = 'approved';

-- Which server keys are in use is asked at each start, by a look into these for each key.
CREATE INDEX handles_by_key ON handles (key_id);
CREATE INDEX verifiers_by_key ON verifiers (key_id);
