-- Disabled memberships. Locks: members, without reading it; `events` against writes while the index is built,
-- by one scan of the log. The other tables are new.

-- Until when the membership is disabled: 'infinity' until a lead lifts it, null where it is not. Every proof
-- of a key compares it with the database's clock. Read model (projections/membership/members.ts).
ALTER TABLE members ADD COLUMN disabled_until timestamptz;

-- Decisions of leads and of the operator on memberships. Read model (projections/disabling/member-decisions.ts).
CREATE TABLE member_decisions (
  event_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  moderator_id uuid,                -- null: the operator
  decision text NOT NULL,           -- disabled, enabled, granted, upheld
  of uuid NOT NULL,                 -- event of the disabling that this is about; its own for a disabling
  policy text,                      -- of a disabling
  message text,                     -- words to the member
  until timestamptz,                -- of a disabling; null: until a lead lifts it
  decided_at timestamptz NOT NULL,
  claimed_at timestamptz,           -- when the moderator claimed the appeal
  undone_at timestamptz
);
ALTER TABLE member_decisions ALTER COLUMN message SET STATISTICS 0;
-- A member's own, in order: the state of the membership, export and erasure.
CREATE INDEX member_decisions_of_member ON member_decisions (member_id, decided_at, event_id);
-- How many memberships a lead disabled within the hour.
CREATE INDEX member_decisions_of_moderator ON member_decisions (moderator_id, decided_at)
  WHERE decision = 'disabled';

-- Appeals of members against disablings. Read model (projections/disabling/member-appeals.ts).
CREATE TABLE member_appeals (
  appeal_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  of uuid NOT NULL,                 -- event of the disabling
  text text,                        -- the member's words
  state text NOT NULL,              -- open, granted, upheld; moot once the account or the disabling is gone
  opened_at timestamptz NOT NULL,
  settled_by uuid,                  -- event that decided it
  decided_at timestamptz,
  decided_by uuid,                  -- moderator; null: the operator
  message text                      -- words to the member
);
ALTER TABLE member_appeals
  ALTER COLUMN text SET STATISTICS 0,
  ALTER COLUMN message SET STATISTICS 0;
-- Export and erasure.
CREATE INDEX member_appeals_of_member ON member_appeals (member_id, opened_at, appeal_id);
-- The view of open appeals, oldest first.
CREATE INDEX member_appeals_open ON member_appeals (opened_at, member_id) WHERE state = 'open';

-- The audit of the operator's decisions (projections/moderation/audit.ts; verbatim).
CREATE INDEX events_audit_of_operator ON events (position) WHERE actor->>'type' = 'operator';
