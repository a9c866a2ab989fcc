-- How many notes waited, hour by hour, for the moderators' console. Locks nothing: the table is new.

-- Primary (services/moderation/stats/queue-hours.ts): a job counts the queue every hour, and no event has the count. So
-- a rebuild, a comparison with the log and a backup of the log do not have it. Kept for 14 days.
CREATE TABLE queue_hours (
  hour timestamptz PRIMARY KEY,     -- when the hour began in which a worker counted
  waiting integer NOT NULL,
  oldest_seconds integer            -- age of the note that had waited longest; null if none waited
);
