-- Reports on published records (profiles, artifacts, cases, case notes) and moderators' decisions on them.
CREATE TABLE record_reports (
  report_id uuid PRIMARY KEY,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  author_id uuid NOT NULL,
  member_id uuid NOT NULL,
  reason text NOT NULL,
  details text,
  -- open, kept, removed or withdrawn; silent where the reason had been dismissed before.
  state text NOT NULL,
  reported_at timestamptz NOT NULL,
  settled_by_event uuid,
  -- When the reporter learnt what became of it.
  told_at timestamptz
);
CREATE INDEX record_reports_of_subject ON record_reports (subject_type, subject_id, reported_at);
CREATE INDEX record_reports_of_member ON record_reports (member_id, reported_at, report_id);
CREATE INDEX record_reports_of_author ON record_reports (author_id) WHERE told_at IS NULL;
CREATE INDEX record_reports_untold ON record_reports (reported_at)
  WHERE state = 'withdrawn' AND told_at IS NULL;

-- One row for each record that was ever reported; `reported_at` is the oldest report that waits.
CREATE TABLE reported_records (
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  author_id uuid NOT NULL,
  reported_at timestamptz,
  -- Of the stream of its reports.
  version integer NOT NULL,
  PRIMARY KEY (subject_type, subject_id)
);
CREATE INDEX reported_records_waiting ON reported_records (reported_at, subject_id)
  WHERE reported_at IS NOT NULL;
CREATE INDEX reported_records_of_author ON reported_records (author_id);

CREATE TABLE record_decisions (
  event_id uuid PRIMARY KEY,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  author_id uuid NOT NULL,
  moderator_id uuid,
  decision text NOT NULL,
  policy text,
  message text,
  decided_at timestamptz NOT NULL,
  undone_at timestamptz,
  told_at timestamptz
);
CREATE INDEX record_decisions_of_subject
  ON record_decisions (subject_type, subject_id, decided_at DESC);
CREATE INDEX record_decisions_of_author ON record_decisions (author_id);

-- An export walks a member's reports on notes in the same order.
CREATE INDEX note_reports_exported ON note_reports (member_id, reported_at, report_id)
  WHERE member_id IS NOT NULL;
DROP INDEX note_reports_of_member;

ALTER TABLE record_reports ALTER COLUMN details SET STATISTICS 0;
ALTER TABLE record_decisions ALTER COLUMN message SET STATISTICS 0;
