-- When every read model was last compared with the log while the service ran (docs/operating/live-proof.md).
-- A new table; locks none that exists.
CREATE TABLE read_model_proofs (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), -- one row
  checked_at timestamptz NOT NULL,
  proven_at timestamptz,                            -- when nothing differed; null: it always did
  divergent bigint NOT NULL,                        -- rows that differed
  tables text[] NOT NULL                            -- the tables with such rows
);
