-- How long each moderator has claimed each item lately, because the 30 minutes count over all claims of
-- one moderator on one item. Primary (services/moderation/claims/claim-times.ts). A row counts until an
-- hour after `ended_at`, and is deleted later.
CREATE TABLE claim_times (
  moderator_id uuid NOT NULL,
  subject_type text NOT NULL,       -- note, profile, artifact, case, case_note
  note_id uuid NOT NULL,            -- id of the note or of the record
  used interval NOT NULL,           -- of all claims, the current one until its expiry
  ended_at timestamptz NOT NULL,    -- when the last claim ended, or will expire
  PRIMARY KEY (moderator_id, subject_type, note_id)
);
-- The sweep.
CREATE INDEX claim_times_age ON claim_times (ended_at);
