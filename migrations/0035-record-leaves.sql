-- The leaf of each event with which a note, a packet or a case was submitted or corrected, for the page of the record.
-- Anonymous reads may use it, and neither the log nor the salts. Locks nothing.
CREATE VIEW record_leaves AS
  SELECT event.owner_id, event.stream_id, event.stream_version, leaf.epoch, leaf.leaf
  FROM events event LEFT JOIN seal_leaves leaf ON leaf.position = event.position
  WHERE event.type IN ('NoteSubmitted', 'NoteCorrected', 'ArtifactPublished', 'CaseOpened');
