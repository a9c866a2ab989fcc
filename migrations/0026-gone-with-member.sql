-- What goes with a member whose deletion the worker has not completed: with the deletion itself, from
-- now on, however much it is.
UPDATE artifacts a SET state = 'withdrawn' FROM members m
  WHERE m.state = 'deactivated' AND m.erased_at IS NULL
    AND a.author_id = m.member_id AND a.state <> 'withdrawn';
UPDATE notes n SET name = NULL, message = NULL, appeal = nullif(n.appeal, 'open'), appealed_at = NULL,
    settled_at = CASE WHEN n.state IN ('pending', 'approved') THEN e.recorded_at ELSE n.settled_at END,
    state = CASE WHEN n.state IN ('pending', 'approved') THEN 'withdrawn' ELSE n.state END
  FROM members m JOIN events e ON e.owner_id = m.member_id
    AND e.stream_id = 'member-' || m.member_id AND e.type = 'MemberDeactivated'
  WHERE m.state = 'deactivated' AND m.erased_at IS NULL
    AND n.member_id = m.member_id AND n.erased_at IS NULL
    AND (n.state <> 'approved' OR (e.data->>'erase_notes')::boolean);
