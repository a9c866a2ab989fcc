-- What members publish without review: profiles and context packets, whatever their state.
CREATE TABLE profiles (
  member_id uuid PRIMARY KEY,
  display_name text,
  summary text,
  links text[],
  capabilities text[],
  state text NOT NULL,
  version integer NOT NULL,
  published_at timestamptz NOT NULL,
  removal_told boolean NOT NULL
);
CREATE INDEX profiles_published ON profiles (published_at DESC, member_id DESC)
  WHERE state = 'published';

-- `packet` is json, not jsonb: it is answered as its author wrote it.
CREATE TABLE artifacts (
  artifact_id uuid PRIMARY KEY,
  author_id uuid NOT NULL,
  kind text NOT NULL,
  title text,
  content_hash text,
  packet json,
  supersedes_id uuid,
  superseded_by uuid,
  state text NOT NULL,
  version integer NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX artifacts_supersedes ON artifacts (supersedes_id)
  WHERE supersedes_id IS NOT NULL;
CREATE INDEX artifacts_published ON artifacts (created_at DESC, artifact_id DESC)
  WHERE state = 'published';
CREATE INDEX artifacts_published_of_kind ON artifacts (kind, created_at DESC, artifact_id DESC)
  WHERE state = 'published';
CREATE INDEX artifacts_published_of_author
  ON artifacts (author_id, created_at DESC, artifact_id DESC) WHERE state = 'published';
CREATE INDEX artifacts_published_of_author_and_kind
  ON artifacts (author_id, kind, created_at DESC, artifact_id DESC) WHERE state = 'published';
CREATE INDEX artifacts_of_author ON artifacts (author_id, created_at, artifact_id);
