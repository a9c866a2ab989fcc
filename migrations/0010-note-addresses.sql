-- From which address a guest's note came, so that moderators can list what one address sent. Primary
-- (services/guestbook/submit.ts), swept after the retention of rate counters. A new, empty table: notes
-- that were sent before the upgrade have no address.
CREATE TABLE note_addresses (
  note_id uuid PRIMARY KEY,
  bucket text NOT NULL,             -- keyed hash of the IPv4 address or the IPv6 /48
  submitted_at timestamptz NOT NULL
);
CREATE INDEX note_addresses_of_bucket ON note_addresses (bucket, submitted_at);
-- The sweep, oldest first.
CREATE INDEX note_addresses_age ON note_addresses (submitted_at);
