-- Where each receiver of NOTIFY_URLS is in the log (services/notices/). No read model: a rebuild leaves it.
-- Locks nothing.
CREATE TABLE notice_receivers (
  receiver text PRIMARY KEY,        -- a hash of the address, which is not stored
  position bigint NOT NULL,         -- last event of the log that the receiver has accepted notice of
  dead_until timestamptz NOT NULL,  -- the same for jobs that failed for the last time
  pending json,                     -- the message that is sent until it is accepted; ids and counts
  attempts integer NOT NULL DEFAULT 0, -- that failed in a row
  next_at timestamptz NOT NULL,     -- no attempt before
  failed_since timestamptz,         -- first failure in a row
  failure text                      -- last one: a status or an error code
);
