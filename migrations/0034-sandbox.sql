-- Marks the database of a sandbox (SANDBOX=true), which a release empties each day (services/sandbox.ts). Only a
-- release writes it, and only into a database without events, so no database of another service becomes one.
CREATE TABLE sandbox (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  made_at timestamptz NOT NULL DEFAULT now(),
  emptied_at timestamptz NOT NULL DEFAULT now(),
  last_checkpoint text -- of the sealed tree that was emptied, which the next tree names
);
