-- Members, their sessions and the keyed hashes of their keys.
CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  handle text UNIQUE,
  state text NOT NULL,
  key_epoch integer NOT NULL,
  registered_at timestamptz NOT NULL,
  deactivated_at timestamptz
);

-- A handle is used up for ever; after a deletion only its keyed hash is left.
CREATE TABLE handles (
  hash text PRIMARY KEY,
  key_id integer NOT NULL,
  member_id uuid NOT NULL
);

-- One row: the number of living members, locked by a registration so that the limit holds.
CREATE TABLE membership_totals (
  id integer PRIMARY KEY CHECK (id = 1),
  active integer NOT NULL
);
INSERT INTO membership_totals VALUES (1, 0);

CREATE TABLE feed_heads (
  member_id uuid PRIMARY KEY,
  sequence bigint NOT NULL
);

CREATE TABLE feed (
  member_id uuid NOT NULL,
  sequence bigint NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  actor jsonb NOT NULL,
  data jsonb NOT NULL,
  PRIMARY KEY (member_id, sequence)
);

-- Primary data from here on: no projection, not in the log, part of every backup.
CREATE TABLE verifiers (
  owner_id uuid NOT NULL,
  purpose text NOT NULL,
  subject_id uuid NOT NULL,
  key_id integer NOT NULL,
  hash text NOT NULL,
  PRIMARY KEY (owner_id, purpose, subject_id)
);

CREATE TABLE sessions (
  session_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  key_epoch integer NOT NULL,
  key_id integer NOT NULL,
  hash text NOT NULL,
  started_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz
);
CREATE INDEX sessions_live ON sessions (member_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_expiry ON sessions (expires_at) WHERE ended_at IS NULL;

CREATE TABLE rate_counters (
  kind text NOT NULL,
  bucket text NOT NULL,
  window_start timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (kind, bucket, window_start)
);
CREATE INDEX rate_counters_age ON rate_counters (window_start);
