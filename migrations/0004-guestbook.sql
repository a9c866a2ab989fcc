-- Notes of the guestbook, whatever their state.
CREATE TABLE notes (
  note_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,
  member_id uuid,
  experience text NOT NULL,
  attribution text NOT NULL,
  parent_id uuid,
  name text,
  message text,
  state text NOT NULL,
  version integer NOT NULL,
  submitted_at timestamptz NOT NULL,
  approved_at timestamptz
);
CREATE INDEX notes_top_level ON notes (experience, approved_at DESC, note_id)
  WHERE state = 'approved' AND parent_id IS NULL;
CREATE INDEX notes_replies ON notes (parent_id, approved_at DESC, note_id)
  WHERE state = 'approved' AND parent_id IS NOT NULL;
CREATE INDEX notes_of_member ON notes (member_id, submitted_at) WHERE member_id IS NOT NULL;
