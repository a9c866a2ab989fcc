-- A decision on a note reads its open reports, and of the settled ones only those that it needs, instead of
-- the note's whole stream (projections/guestbook/note-facts.ts).
-- Locks: events and note_reports against writes while the indexes are built, each by one scan.

-- The event of a report, among many in the same stream.
CREATE INDEX events_of_reports ON events (owner_id, (data->>'report_id'))
  WHERE type = 'NoteReported';
-- The oldest report that a decision settled.
CREATE INDEX note_reports_settled_first ON note_reports (settled_by_event, reported_at)
  WHERE settled_by_event IS NOT NULL;
