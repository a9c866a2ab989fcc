-- The newest approved notes, of all experiences: where a search looks first.
CREATE INDEX notes_approved ON notes (approved_at, note_id) WHERE state = 'approved';

-- Which server keys are in use is asked at each start, by a look into these for each key.
CREATE INDEX handles_by_key ON handles (key_id);

-- The verifiers of credentials that ended are dropped with them from now on; those that are left go
-- here, before the index is made, which keeps others from writing until the end.
DELETE FROM verifiers v USING credentials c
  WHERE v.purpose = 'credential' AND c.credential_id = v.subject_id AND c.state <> 'active';
CREATE INDEX verifiers_by_key ON verifiers (key_id);
