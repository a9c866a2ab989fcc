-- The words of a member in receipts of others: a command on a case answers the whole case. Each index
-- holds what is left to erase, by whose words they are.
CREATE INDEX receipts_case_words ON receipts ((reply->'case'->>'author_id'))
  WHERE operation LIKE 'case.%' AND reply->'case'->>'title' <> '';
CREATE INDEX receipts_submission_words ON receipts ((reply->'case'->'submission'->>'member_id'))
  WHERE operation LIKE 'case.%' AND reply->'case'->'submission'->>'summary' IS NOT NULL;

-- Of those whose erasure was complete without them.
UPDATE receipts SET reply = jsonb_set(reply::jsonb, '{case}', reply::jsonb->'case' ||
    '{"title": "", "summary": "", "objective": "", "acceptance_criteria": []}')
  FROM members m WHERE m.erased_at IS NOT NULL AND operation LIKE 'case.%'
    AND reply->'case'->>'author_id' = m.member_id::text AND reply->'case'->>'title' <> '';
UPDATE receipts SET reply = jsonb_set(reply::jsonb, '{case,submission,summary}', 'null')
  FROM members m WHERE m.erased_at IS NOT NULL AND operation LIKE 'case.%'
    AND reply->'case'->'submission'->>'member_id' = m.member_id::text
    AND reply->'case'->'submission'->>'summary' IS NOT NULL;
