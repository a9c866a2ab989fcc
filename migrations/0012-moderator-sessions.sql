-- Moderators' browser sessions, and the policies that rejections and removals name.

-- Primary data: idle for eight hours it is over, and after `expires_at` in any case.
CREATE TABLE moderator_sessions (
  session_id uuid PRIMARY KEY,
  moderator_id uuid NOT NULL,
  key_id integer NOT NULL,
  hash text NOT NULL,
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX moderator_sessions_of_moderator ON moderator_sessions (moderator_id);

CREATE TABLE policies (
  code text PRIMARY KEY,
  title text,
  text text,
  active boolean NOT NULL,
  version integer NOT NULL,
  changed_at timestamptz
);
