-- Why a bearer ended, for those who still present its secret: a 401 says `expired` or `revoked` for 30 days
-- (platform/keys/ended-verifiers.ts). Primary. Locks nothing: the table is new.
CREATE TABLE ended_verifiers (
  credential_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  reason text NOT NULL,             -- expired, revoked
  ended_at timestamptz NOT NULL,
  key_id integer NOT NULL,          -- the server key of `hash`; the row does not hold it back from retirement
  hash text NOT NULL                -- of the credential's verifier, under a purpose that authenticates nothing
);
CREATE INDEX ended_verifiers_ended ON ended_verifiers (ended_at);
CREATE INDEX ended_verifiers_member ON ended_verifiers (member_id);
