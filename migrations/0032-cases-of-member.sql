-- A member's own cases by role (projections/cases/cases-of-member.ts).
-- Locks: case_members and cases against writes while the indexes are built, each by one scan.

-- The cases in which a member took part, the last one first.
CREATE INDEX case_members_of_member ON case_members (member_id, took_part_at, case_id);

-- The cases that a member has claimed, or whose submission by the member is under review.
CREATE INDEX cases_of_claimant ON cases (claimant_id, created_at, case_id)
  INCLUDE (author_id, state, lease_expires_at)
  WHERE claimant_id IS NOT NULL AND NOT removed AND NOT author_gone;
