-- What a member did to the cases of others, for the proofs of these acts (services/seal/tree-store.ts; verbatim), however
-- many others took part in them.
-- Locks events against writes while the index is built, by one scan.
CREATE INDEX events_on_cases ON events ((actor->>'id'), position)
  WHERE actor->>'type' = 'member' AND actor->>'id' <> owner_id::text AND stream_id LIKE 'case-%';
