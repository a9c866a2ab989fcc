-- Moderators' commands cost the same however long the streams of a record are
-- (services/moderation/decisions/decide-record.ts, services/moderation/comments/comment.ts).
-- Locks: events and record_reports against writes while the indexes are built, each by one scan.

-- The comment that a moderator deletes, among many on the same subject.
CREATE INDEX events_comments ON events (owner_id, event_id) WHERE type = 'CommentAdded';

-- Reports whose reporters wait for the outcome, among many that were settled.
CREATE INDEX record_reports_to_tell ON record_reports (subject_type, subject_id, reported_at, report_id)
  WHERE told_at IS NULL AND state <> 'silent';
-- Reports that an undo opens again.
CREATE INDEX record_reports_settled ON record_reports (settled_by_event)
  WHERE settled_by_event IS NOT NULL;
