-- Scoped credentials and the daily write budget.
CREATE TABLE credentials (
  credential_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  scopes text[] NOT NULL,
  state text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_reason text
);
CREATE INDEX credentials_of_member ON credentials (member_id, created_at DESC, credential_id);
CREATE INDEX credentials_live ON credentials (expires_at) WHERE state = 'active';

-- Primary data: writes of each member and UTC day.
CREATE TABLE write_budgets (
  member_id uuid NOT NULL,
  day date NOT NULL,
  used integer NOT NULL,
  PRIMARY KEY (member_id, day)
);
