-- Who held a case and when, for its public page. Anonymous reads may use it, and not the log. Locks nothing.
CREATE VIEW case_steps AS
  SELECT owner_id, stream_id, stream_version, event_id, type, recorded_at,
    data->>'member_id' AS member_id, data->>'lease_expires_at' AS lease_expires_at
  FROM events
  WHERE type IN ('CaseClaimed', 'CaseLeaseExtended', 'CaseReleased', 'CaseLeaseEnded', 'CaseSubmitted',
    'CaseAccepted', 'CaseReturned', 'CaseRejected', 'CaseWithdrawn');
