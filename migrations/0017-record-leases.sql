-- Moderators hold reported records as they hold notes, and find again what they decided on them.

-- `note_id` is the note's, or that of the record of this kind.
ALTER TABLE note_leases ADD COLUMN subject_type text NOT NULL DEFAULT 'note';
ALTER TABLE note_leases DROP CONSTRAINT note_leases_note_id_key,
  ADD UNIQUE (note_id, subject_type);

ALTER TABLE record_decisions ADD COLUMN claimed_at timestamptz;
CREATE INDEX record_reports_in_time ON record_reports (reported_at);
CREATE INDEX record_decisions_in_time ON record_decisions (decided_at DESC, subject_id);
