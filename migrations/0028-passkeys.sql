-- Passkeys of members. Locks nothing: both tables are new.

-- A passkey opens a session as the sign-in key does. Primary (services/passkeys/passkeys.ts): no event has its
-- public key or its name. Deleted when it ends.
CREATE TABLE passkeys (
  passkey_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  key_epoch integer NOT NULL,       -- the member's when it was added: a later one ends it, even if the row stays
  credential_id text NOT NULL UNIQUE, -- made by the authenticator; base64url
  public_key text NOT NULL,         -- COSE; base64url
  sign_count bigint NOT NULL,       -- of the last sign-in; one that goes back tells that there is a copy
  transports text[] NOT NULL,       -- how a browser reaches the authenticator
  name text NOT NULL,               -- chosen by the member
  added_at timestamptz NOT NULL,
  last_used_on date                 -- UTC
);
ALTER TABLE passkeys
  ALTER COLUMN public_key SET STATISTICS 0,
  ALTER COLUMN name SET STATISTICS 0;
-- A member's own: list, export and ends.
CREATE INDEX passkeys_of_member ON passkeys (member_id, passkey_id);

-- Challenges that wait for the answer of an authenticator. Primary (services/passkeys/challenges.ts). The
-- primary key bounds the table: a session has 5 slots, an address 20.
CREATE TABLE passkey_challenges (
  holder text NOT NULL,             -- id of the session that adds a passkey, or keyed hash of the address
  slot smallint NOT NULL,
  challenge text NOT NULL UNIQUE,   -- 32 random bytes; base64url
  purpose text NOT NULL,            -- add, sign-in
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (holder, slot)
);
CREATE INDEX passkey_challenges_expiry ON passkey_challenges (expires_at);
