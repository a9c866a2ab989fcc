-- Counts, reports and histories read what they need of a member, a note or a record with many others
-- (services/moderation/decisions/history.ts, projections/guestbook/note-reports.ts,
-- projections/publications/record-reports.ts, projections/profiles/profiles.ts).
-- Locks: events, note_reports, note_decisions, record_reports and record_decisions against writes while
-- the indexes are built, each by one scan; case_submissions against all while accepted ones are marked.

-- What authors, moderators and the service did to a note with many reports: as good as empty, because
-- hardly any note has more than 100 events.
CREATE INDEX events_of_long_notes ON events (owner_id, stream_id, stream_version)
  WHERE stream_version > 100 AND stream_id LIKE 'note-%' AND type <> 'NoteReported';

-- A member's report, open reports, reports of guests that are only counted, and the reasons that a
-- decision settled.
CREATE INDEX note_reports_of_reporter ON note_reports (note_id, member_id)
  WHERE member_id IS NOT NULL;
CREATE INDEX record_reports_of_reporter ON record_reports (subject_type, subject_id, member_id);
CREATE INDEX note_reports_open ON note_reports (note_id, reported_at, report_id)
  WHERE state = 'open';
CREATE INDEX note_reports_silent ON note_reports (note_id)
  WHERE state = 'silent' AND member_id IS NULL;
CREATE INDEX note_reports_settled ON note_reports (settled_by_event, reason)
  WHERE settled_by_event IS NOT NULL;
CREATE INDEX note_decisions_kept ON note_decisions (note_id) WHERE decision = 'kept';
CREATE INDEX record_decisions_kept ON record_decisions (subject_type, subject_id)
  WHERE decision = 'kept';
DROP INDEX record_reports_settled;
CREATE INDEX record_reports_settled ON record_reports (settled_by_event, reason)
  WHERE settled_by_event IS NOT NULL;

-- The accepted submissions of a member, who may have made many others.
ALTER TABLE case_submissions ADD COLUMN accepted boolean NOT NULL DEFAULT false;
UPDATE case_submissions s SET accepted = true FROM events e
  WHERE e.type = 'CaseAccepted' AND s.submission_id = (e.data->>'submission_id')::uuid;
CREATE INDEX case_submissions_accepted ON case_submissions (member_id) WHERE accepted;
