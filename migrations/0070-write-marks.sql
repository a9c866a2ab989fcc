-- Proofs of commits where the log is distributed over a cluster (platform/eventstore/write-marks.ts). One server
-- writes none. Swept after two hours.
CREATE TABLE write_marks (
  id uuid PRIMARY KEY,
  marked_at timestamptz NOT NULL
);
CREATE INDEX write_marks_age ON write_marks (marked_at);

-- The oldest transaction that this node has committed and another may have not, as its id; null if there is none. A release
-- that distributes the log replaces it (services/cluster.ts).
CREATE FUNCTION oldest_two_phase_commit() RETURNS bigint LANGUAGE sql STABLE AS 'SELECT NULL::bigint';
