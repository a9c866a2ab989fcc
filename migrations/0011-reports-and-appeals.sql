-- Reports on notes and appeals of their authors, so that both stand in the moderators' queue.
CREATE TABLE note_reports (
  report_id uuid PRIMARY KEY,
  note_id uuid NOT NULL,
  member_id uuid,
  reason text NOT NULL,
  details text,
  -- open, kept, removed or withdrawn; silent where the reason had been dismissed before.
  state text NOT NULL,
  reported_at timestamptz NOT NULL,
  settled_by_event uuid
);
CREATE INDEX note_reports_of_note ON note_reports (note_id, reported_at);
CREATE INDEX note_reports_of_member ON note_reports (member_id, reported_at)
  WHERE member_id IS NOT NULL;

CREATE TABLE note_appeals (
  appeal_id uuid PRIMARY KEY,
  note_id uuid NOT NULL,
  member_id uuid NOT NULL,
  of uuid NOT NULL,
  text text,
  -- open, granted, upheld, or moot where the decision itself went.
  state text NOT NULL,
  opened_at timestamptz NOT NULL,
  decided_at timestamptz,
  decided_by uuid,
  message text
);
CREATE INDEX note_appeals_of_note ON note_appeals (note_id, opened_at);
CREATE INDEX note_appeals_of_member ON note_appeals (member_id, opened_at);

-- Primary data: the keyed hash of an address that reported a note, kept as long as rate counters.
CREATE TABLE report_addresses (
  note_id uuid NOT NULL,
  bucket text NOT NULL,
  reported_at timestamptz NOT NULL,
  PRIMARY KEY (note_id, bucket)
);
CREATE INDEX report_addresses_age ON report_addresses (reported_at);
