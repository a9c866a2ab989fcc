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

-- A read model that begins with six rows; `place` is theirs, later ones follow in time.
CREATE TABLE policies (
  code text PRIMARY KEY,
  place integer,
  title text,
  text text,
  active boolean NOT NULL,
  version integer NOT NULL,
  added_at timestamptz
);
INSERT INTO policies (code, place, title, text, active, version) VALUES
  ('spam', 1, 'Spam', 'Advertising, repeated or automated posting, or links placed to promote something.', true, 1),
  ('abuse', 2, 'Abuse', 'Insults, threats, harassment, or contempt for people because of who they are.', true, 1),
  ('personal_data', 3, 'Personal data', 'Addresses, numbers or other details of a person who has not chosen to publish them.', true, 1),
  ('illegal', 4, 'Illegal', 'Content that may not lawfully be published, or that helps to break the law.', true, 1),
  ('off_topic', 5, 'Off topic', 'Does not belong to this guestbook.', true, 1),
  ('other', 6, 'Other', 'Another reason, which the message to the author explains.', true, 1);
