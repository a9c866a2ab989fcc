-- Moderators, what they decided, and the notes that they hold.
CREATE TABLE moderators (
  moderator_id uuid PRIMARY KEY,
  name text,
  role text NOT NULL,
  state text NOT NULL,
  added_at timestamptz NOT NULL,
  revoked_at timestamptz
);
CREATE UNIQUE INDEX moderators_name ON moderators (name) WHERE state = 'active';

CREATE TABLE note_decisions (
  event_id uuid PRIMARY KEY,
  note_id uuid NOT NULL,
  moderator_id uuid,
  decision text NOT NULL,
  decided_at timestamptz NOT NULL,
  undone_at timestamptz
);
CREATE INDEX note_decisions_of_note ON note_decisions (note_id, decided_at);

CREATE INDEX notes_pending ON notes (submitted_at, note_id) WHERE state = 'pending';

-- Primary data: who holds a note, and until when. A lease past its end counts for nothing.
CREATE TABLE note_leases (
  lease_id uuid PRIMARY KEY,
  note_id uuid NOT NULL UNIQUE,
  moderator_id uuid NOT NULL,
  claimed_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX note_leases_of_moderator ON note_leases (moderator_id);
