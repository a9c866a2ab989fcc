-- The last scheduled backup (docs/operating/backup.md), for the metrics of web and worker, which may run on other
-- machines. Primary. A new table; locks none that exists.
CREATE TABLE scheduled_backups (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), -- one row
  taken_at timestamptz,            -- whose state the last verified backup holds; null: none was verified
  ended_at timestamptz NOT NULL,   -- when the last attempt ended
  failed boolean NOT NULL          -- whether the last attempt failed
);
