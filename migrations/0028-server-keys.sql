-- What each server key was when it was first used: a keyed hash, which does not tell the key. The
-- first start after this records the keys that are configured then.
CREATE TABLE server_keys (
  key_id smallint PRIMARY KEY,
  hash text NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);
