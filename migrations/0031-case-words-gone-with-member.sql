-- What a member whose deletion the worker has not completed wrote on cases: it goes with the deletion
-- itself, from now on.
UPDATE case_submissions s SET summary = NULL FROM members m
  WHERE m.state = 'deactivated' AND m.erased_at IS NULL
    AND s.member_id = m.member_id AND s.summary IS NOT NULL;
UPDATE case_reviews r SET comment = NULL FROM members m
  WHERE m.state = 'deactivated' AND m.erased_at IS NULL
    AND r.member_id = m.member_id AND r.comment IS NOT NULL;
UPDATE case_notes n SET message = NULL FROM members m
  WHERE m.state = 'deactivated' AND m.erased_at IS NULL
    AND n.member_id = m.member_id AND n.message IS NOT NULL;
