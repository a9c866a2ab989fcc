-- Cases with what was submitted, said and noted about them, whom they concern, and the public record.
CREATE TABLE cases (
  case_id uuid PRIMARY KEY,
  author_id uuid NOT NULL,
  title text,
  summary text,
  objective text,
  acceptance_criteria text[],
  artifact_id uuid,
  state text NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- Whoever claimed it or has submitted to it; the lease counts while it is claimed.
  claimant_id uuid,
  lease_expires_at timestamptz,
  submission_id uuid,
  removed boolean NOT NULL DEFAULT false,
  author_gone boolean NOT NULL DEFAULT false
);
CREATE INDEX cases_newest ON cases (created_at, case_id) WHERE NOT removed AND NOT author_gone;
CREATE INDEX cases_by_state ON cases (state, created_at, case_id)
  WHERE NOT removed AND NOT author_gone;
CREATE INDEX cases_of_author ON cases (author_id, created_at, case_id);
CREATE INDEX cases_leases ON cases (lease_expires_at) WHERE state = 'claimed';
CREATE INDEX cases_held ON cases (claimant_id) WHERE claimant_id IS NOT NULL;

CREATE TABLE case_members (
  case_id uuid NOT NULL,
  member_id uuid NOT NULL,
  PRIMARY KEY (case_id, member_id)
);
CREATE INDEX case_members_of_member ON case_members (member_id);

CREATE TABLE case_submissions (
  submission_id uuid PRIMARY KEY,
  case_id uuid NOT NULL,
  member_id uuid NOT NULL,
  summary text,
  artifact_id uuid,
  created_at timestamptz NOT NULL
);
CREATE INDEX case_submissions_of_case ON case_submissions (case_id, created_at, submission_id);
CREATE INDEX case_submissions_of_member ON case_submissions (member_id, created_at, submission_id);

CREATE TABLE case_reviews (
  review_id uuid PRIMARY KEY,
  case_id uuid NOT NULL,
  submission_id uuid NOT NULL,
  member_id uuid NOT NULL,
  decision text NOT NULL,
  binding boolean NOT NULL,
  comment text,
  created_at timestamptz NOT NULL
);
CREATE INDEX case_reviews_of_case ON case_reviews (case_id, created_at, review_id);
CREATE INDEX case_reviews_of_member ON case_reviews (member_id, created_at, review_id);

CREATE TABLE case_notes (
  note_id uuid PRIMARY KEY,
  case_id uuid NOT NULL,
  member_id uuid NOT NULL,
  message text,
  state text NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX case_notes_of_case ON case_notes (case_id, created_at, note_id)
  WHERE state = 'published' AND message IS NOT NULL;
CREATE INDEX case_notes_of_member ON case_notes (member_id, created_at, note_id);

-- What happened in public. Whether it is shown, and under which title, its subject says.
CREATE TABLE activity (
  entry_id uuid PRIMARY KEY,
  type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  actor jsonb NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL
);
CREATE INDEX activity_newest ON activity (occurred_at, entry_id);
CREATE INDEX activity_by_type ON activity (type, occurred_at, entry_id);
