-- The whole schema, grouped by capability. Each table has its indexes beside it.
--
-- Three kinds of tables:
--   log         what happened, written once: `events` and the receipts of commands.
--   read model  what the log says, in the form that queries need. Written by one projection
--               (projections/NAME.ts) in the transaction that appends the event, and made again from
--               the log by `npm run rebuild`. `version` is the version of the record's stream.
--   primary     facts that are not in the log, such as keyed hashes, counters and leases. They must be
--               in every backup: nothing can rebuild them.
--
-- Conventions. Ids are UUIDs, many of them chosen by clients. There are no foreign keys: rows are
-- written by projections in log order, and erasure keeps ids. A text column is nullable if an erasure
-- may empty it, and has statistics target 0, because ANALYZE would otherwise copy erased texts into
-- pg_statistic. An index condition that a query must repeat word for word is marked "verbatim".
-- test/store/schema.golden.txt is the resulting schema; `npm run schema` updates it. Until the first
-- release this file changes in place; after that, a change is a further file.


-- Log ------------------------------------------------------------------------------------------------

-- Every event, in streams of one owner each. Written by the event store alone
-- (platform/eventstore/append.ts). A second writer of the same stream version violates the primary key.
CREATE TABLE events (
  -- The member; for a guest's note the note's id; for a moderator's stream the moderator; a fixed id for
  -- the whole service, such as its policies (EVERYBODY in services/moderation/policies/policy.ts).
  owner_id uuid NOT NULL,
  stream_id text NOT NULL,          -- kind and id: 'note-…', 'case-…', 'member-…'
  stream_version integer NOT NULL CHECK (stream_version > 0), -- 1, 2, 3, … within the stream
  -- Order of the whole log. Assigned before COMMIT, so a lower position may become visible later.
  position bigint GENERATED ALWAYS AS IDENTITY,
  event_id uuid NOT NULL,           -- UUIDv7
  type text NOT NULL,               -- past tense: 'NoteApproved'
  data jsonb NOT NULL,              -- facts without names or free text; kept forever
  personal jsonb,                   -- names and free text; set to null by an erasure
  actor jsonb NOT NULL,             -- {"type": "member" | "guest" | "moderator" | "service", "id": …}
  recorded_at timestamptz NOT NULL, -- the database's clock
  PRIMARY KEY (owner_id, stream_id, stream_version)
);
ALTER TABLE events ALTER COLUMN personal SET STATISTICS 0;
-- Reading the log by ranges of positions: rebuild, the moderators' event stream. Not unique, because a
-- unique index of a table that is distributed by owner has to contain the owner; the sequence is unique.
CREATE INDEX events_position ON events (position);
-- The audit log (projections/moderation/audit.ts; verbatim).
CREATE INDEX events_audit ON events (position) WHERE actor->>'type' = 'moderator'
  OR type IN ('ModeratorAdded', 'ModeratorRevoked', 'ModeratorTokenRotated', 'NoteApproved',
    'NoteRejected', 'NoteRemoved', 'NoteRestored', 'NoteEscalated', 'NoteErased');
-- Erasure of a member's words in streams of other owners, such as a report on another's note
-- (platform/eventstore/erasure.ts; verbatim).
CREATE INDEX events_words_elsewhere ON events ((actor->>'id'))
  WHERE personal IS NOT NULL AND actor->>'type' = 'member' AND actor->>'id' <> owner_id::text;

-- Events are immutable: the only change allowed is to set `personal` to null. `data` and `actor` are
-- compared as text, because jsonb values may be equal and yet be written differently (1 and 1.000).
CREATE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.personal IS NULL AND (
      (NEW.owner_id, NEW.stream_id, NEW.stream_version, NEW.position, NEW.event_id,
       NEW.type, NEW.data::text, NEW.actor::text, NEW.recorded_at)
      IS NOT DISTINCT FROM
      (OLD.owner_id, OLD.stream_id, OLD.stream_version, OLD.position, OLD.event_id,
       OLD.type, OLD.data::text, OLD.actor::text, OLD.recorded_at))
    THEN
      RETURN NEW;
    END IF;
  END IF;
  RAISE EXCEPTION 'events are never changed or dropped' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER events_keep_rows BEFORE UPDATE OR DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION refuse_event_change();
CREATE TRIGGER events_keep_table BEFORE TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_event_change();

-- The response to each command that was sent with an idempotency key, kept forever so that an exact
-- retry gets the same response. Written in the transaction of the command.
CREATE TABLE receipts (
  owner_id uuid NOT NULL,
  space text NOT NULL,              -- api, register, recover, note, session, moderation
  key uuid NOT NULL,                -- the idempotency key, or the id that the client chose
  operation text NOT NULL,          -- 'case.claim'
  route text NOT NULL,              -- method and path of the request
  body_hash text NOT NULL,          -- of the request without secrets, keyed for a note; '' after an erasure
  bound jsonb,                      -- keyed hashes of the secrets in the request
  http_status smallint NOT NULL,
  reply json,                       -- json, not jsonb: repeated byte for byte; null after an erasure
  event_ids uuid[] NOT NULL,        -- the events that the command appended
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (owner_id, space, key)
);
ALTER TABLE receipts
  ALTER COLUMN bound SET STATISTICS 0,
  ALTER COLUMN reply SET STATISTICS 0;
-- A command on a case replies with the whole case, so receipts of other members may hold a member's
-- words. Erasure finds those that are left (services/cases/receipts.ts; verbatim).
CREATE INDEX receipts_case_words ON receipts ((reply->'case'->>'author_id'))
  WHERE operation LIKE 'case.%' AND reply->'case'->>'title' <> '';
CREATE INDEX receipts_submission_words ON receipts ((reply->'case'->'submission'->>'member_id'))
  WHERE operation LIKE 'case.%' AND reply->'case'->'submission'->>'summary' IS NOT NULL;

-- The log continues in a new epoch after it was restored from a backup, or after a failover that lost
-- commits (`npm run restored`, platform/eventstore/log-epochs.ts). Cursors carry their epoch. Primary.
CREATE TABLE log_epochs (
  -- Unix milliseconds of `began_at`, at least the last epoch plus one: a number that was given once does not
  -- come again, even if the same backup is restored twice. The first epoch is 1.
  epoch bigint PRIMARY KEY,
  began_at timestamptz NOT NULL,
  position bigint NOT NULL,         -- the last position that was kept
  reason text NOT NULL,
  -- The server: its system identifier and its timeline, which a promotion changes. If the server is another one
  -- now, there was a restore or a failover, in which commits may have been lost.
  server text NOT NULL DEFAULT (pg_control_system()).system_identifier || '/' ||
    left(pg_walfile_name(pg_current_wal_lsn()), 8)
);
INSERT INTO log_epochs (epoch, began_at, position, reason) VALUES (1, '-infinity', 0, 'first');

-- The last sequence of each member's feed that was kept when an epoch began. Primary
-- (platform/eventstore/log-epochs.ts).
CREATE TABLE feed_restores (
  member_id uuid NOT NULL,
  epoch bigint NOT NULL,
  sequence bigint NOT NULL,
  PRIMARY KEY (member_id, epoch)
);

-- Updates of each member, numbered 1, 2, 3, … in commit order. Read model (projections/updates/).
CREATE TABLE feed (
  member_id uuid NOT NULL,
  sequence bigint NOT NULL,
  event_id uuid NOT NULL,
  type text NOT NULL,               -- wire name: 'case.claimed'
  occurred_at timestamptz NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  actor jsonb NOT NULL,
  data jsonb NOT NULL,
  PRIMARY KEY (member_id, sequence)
);

-- The last sequence of each member. Read model (projections/updates/feed.ts). Its row is the member's lock:
-- a command holds the rows of all members whose feeds it writes until COMMIT.
CREATE TABLE feed_heads (
  member_id uuid PRIMARY KEY,
  sequence bigint NOT NULL
);


-- Keys -----------------------------------------------------------------------------------------------

-- Which secret each server key id had when it was first used, as a keyed hash. Primary; written at
-- start (platform/keys/key-checks.ts), which refuses a key that has another secret.
CREATE TABLE server_keys (
  key_id smallint PRIMARY KEY,
  hash text NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);

-- Keyed hashes of secrets: members' keys, credentials, moderators' tokens. Primary
-- (platform/keys/verifiers.ts). A credential's row is deleted when the credential ends.
CREATE TABLE verifiers (
  owner_id uuid NOT NULL,           -- member or moderator
  purpose text NOT NULL,            -- sign-in, recovery, credential, moderator
  subject_id uuid NOT NULL,         -- the credential; otherwise the owner
  key_id integer NOT NULL,          -- the server key of `hash`
  hash text NOT NULL,
  PRIMARY KEY (owner_id, purpose, subject_id)
);
-- Each start asks which server keys are in use, one lookup per key.
CREATE INDEX verifiers_by_key ON verifiers (key_id);


-- Membership -----------------------------------------------------------------------------------------

-- Members, also former ones. Read model (projections/membership/members.ts).
CREATE TABLE members (
  member_id uuid PRIMARY KEY,
  handle text UNIQUE,               -- null after deactivation; `handles` keeps it reserved
  state text NOT NULL,              -- active, deactivated
  key_epoch integer NOT NULL,       -- raised by a recovery: ends sessions and credentials of earlier epochs
  registered_at timestamptz NOT NULL,
  deactivated_at timestamptz,
  erased_at timestamptz             -- when the worker completed the erasure
);
ALTER TABLE members ALTER COLUMN handle SET STATISTICS 0;
-- Erasures that the worker has not completed, oldest first.
CREATE INDEX members_to_erase ON members (deactivated_at)
  WHERE state = 'deactivated' AND erased_at IS NULL;

-- Every handle that was ever registered, as a keyed hash: a handle is never given out again.
-- Read model (projections/membership/members.ts).
CREATE TABLE handles (
  hash text PRIMARY KEY,
  key_id integer NOT NULL,          -- the server key of `hash`
  member_id uuid NOT NULL
);
-- Each start asks which server keys are in use, one lookup per key.
CREATE INDEX handles_by_key ON handles (key_id);

-- One row: the number of active members. A registration locks it, so that the limit holds.
-- Read model (projections/membership/members.ts, which has the same first row as its seed).
CREATE TABLE membership_totals (
  id integer PRIMARY KEY CHECK (id = 1),
  active integer NOT NULL
);
INSERT INTO membership_totals (id, active) VALUES (1, 0);

-- Browser sessions of members. Primary (services/membership/sessions.ts); deleted by an erasure.
CREATE TABLE sessions (
  session_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  key_epoch integer NOT NULL,       -- the member's at sign-in
  key_id integer NOT NULL,          -- the server key of `hash`
  hash text NOT NULL,               -- keyed hash of the session's secret
  started_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz              -- signed out, expired or ended with the account
);
-- A member's open sessions.
CREATE INDEX sessions_live ON sessions (member_id) WHERE ended_at IS NULL;
-- Export and erasure of a member's sessions, in order of their ids.
CREATE INDEX sessions_of_member ON sessions (member_id, session_id);
-- The worker ends expired sessions. `expires_at < 'infinity'` holds for every row: only the worker's
-- query repeats it, which keeps the planner from reading this index for lookups of a single session.
CREATE INDEX sessions_expiry ON sessions (expires_at)
  WHERE ended_at IS NULL AND expires_at < 'infinity';


-- Credentials ----------------------------------------------------------------------------------------

-- Scoped credentials of members' API clients. Read model (projections/credentials/credentials.ts).
CREATE TABLE credentials (
  credential_id uuid PRIMARY KEY,
  member_id uuid NOT NULL,
  key_epoch integer NOT NULL,       -- the member's at creation
  label text,                       -- what the member calls it
  scopes text[] NOT NULL,
  state text NOT NULL,              -- active, expired, revoked
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  revoked_reason text               -- rotated, revoked, recovery, deactivated
);
ALTER TABLE credentials ALTER COLUMN label SET STATISTICS 0;
-- A member's credentials, newest first.
CREATE INDEX credentials_of_member ON credentials (member_id, created_at DESC, credential_id);
-- The worker records expiries; the condition is as in sessions_expiry.
CREATE INDEX credentials_expiry ON credentials (expires_at)
  WHERE state = 'active' AND expires_at < 'infinity';

-- The last UTC day on which each credential was used. Primary (services/credentials/last-use.ts),
-- written once a day and credential, apart from requests.
CREATE TABLE credential_uses (
  member_id uuid NOT NULL,
  credential_id uuid NOT NULL,
  last_used_on date NOT NULL,
  PRIMARY KEY (member_id, credential_id)
);


-- Limits ---------------------------------------------------------------------------------------------

-- Counts of requests in fixed windows. Primary (platform/limits/rate-counters.ts), committed apart from
-- the command, swept after their retention.
CREATE TABLE rate_counters (
  kind text NOT NULL,               -- the limit
  bucket text NOT NULL,             -- who is counted: a member's id or the keyed hash of an address
  window_start timestamptz NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (kind, bucket, window_start)
);
-- The sweep, oldest first.
CREATE INDEX rate_counters_age ON rate_counters (window_start);

-- Writes of each member on each UTC day. Primary (platform/limits/write-budget.ts), written in the
-- transaction of the command.
CREATE TABLE write_budgets (
  member_id uuid NOT NULL,
  day date NOT NULL,
  used integer NOT NULL,
  PRIMARY KEY (member_id, day)
);


-- Guestbook ------------------------------------------------------------------------------------------

-- Notes of the guestbook in every state. Read model (projections/guestbook/notes.ts).
CREATE TABLE notes (
  note_id uuid PRIMARY KEY,
  owner_id uuid NOT NULL,           -- owner of the note's streams: the member, or the note's id for a guest
  member_id uuid,                   -- null for a guest
  experience text NOT NULL,         -- which guestbook: service, observatory, two-clerks
  attribution text NOT NULL,        -- guest, member
  parent_id uuid,                   -- the note that this note replies to
  name text,                        -- of a guest
  message text,
  state text NOT NULL,              -- pending, approved, rejected, removed, withdrawn
  version integer NOT NULL,
  submitted_at timestamptz NOT NULL,
  approved_at timestamptz,          -- first approval; a removed note keeps it, as its place if it comes back
  settled_at timestamptz,           -- since when the note has its state; null while pending
  settled_by uuid,                  -- the moderator who decided that, if any
  tier text NOT NULL DEFAULT 'normal', -- lead after an escalation; a lead's queue begins with it
  deferred_until timestamptz,       -- hidden from the queue until then
  reported_at timestamptz,          -- the oldest open report
  appeal text,                      -- against the decision in force: open, upheld; over when its period ended
  appealed_at timestamptz,          -- only while `appeal` is open
  erased_at timestamptz             -- when name and message were erased
);
ALTER TABLE notes
  ALTER COLUMN name SET STATISTICS 0,
  ALTER COLUMN message SET STATISTICS 0;
-- Public pages: notes of a guestbook, replies to a note, newest first.
CREATE INDEX notes_top_level ON notes (experience, approved_at DESC, note_id)
  WHERE state = 'approved' AND parent_id IS NULL;
CREATE INDEX notes_replies ON notes (parent_id, approved_at DESC, note_id)
  WHERE state = 'approved' AND parent_id IS NOT NULL;
-- What the feeds of a guestbook and of the activity say was taken down, newest first.
CREATE INDEX notes_taken_down ON notes (experience, settled_at DESC, note_id)
  WHERE parent_id IS NULL AND approved_at IS NOT NULL AND state IN ('removed', 'withdrawn');
CREATE INDEX notes_taken_down_anywhere ON notes (settled_at DESC, note_id)
  WHERE approved_at IS NOT NULL AND state IN ('removed', 'withdrawn');
-- Search looks through the newest approved notes first, then by words (notes_search, below).
CREATE INDEX notes_approved ON notes (approved_at, note_id) WHERE state = 'approved';
-- A member's notes: export, and what ends with the account.
CREATE INDEX notes_of_member ON notes (member_id, submitted_at) WHERE member_id IS NOT NULL;
-- A guest's notes by name, when a moderator filters the queue by author.
CREATE INDEX notes_of_guest ON notes (name) WHERE member_id IS NULL;
-- A note's thread in every state, for moderators.
CREATE INDEX notes_thread ON notes (parent_id, submitted_at DESC) WHERE parent_id IS NOT NULL;
-- The views of the moderators' queue (services/moderation/queue/queue.ts; verbatim). `deferred_until` is
-- included in notes_pending so that the queue's counts need the index alone.
CREATE INDEX notes_pending ON notes (tier, submitted_at, note_id) INCLUDE (deferred_until)
  WHERE state = 'pending';
CREATE INDEX notes_reported ON notes (reported_at, note_id)
  WHERE state = 'approved' AND reported_at IS NOT NULL;
CREATE INDEX notes_deferred ON notes (deferred_until, note_id)
  WHERE state = 'pending' AND deferred_until IS NOT NULL;
CREATE INDEX notes_appealed ON notes (appealed_at, note_id) WHERE appeal = 'open';
-- Counts of open appeals that a moderator may not answer, because the decision was the moderator's own.
-- `settled_by IS NOT NULL` keeps the planner from reading and sorting this index for the view itself.
CREATE INDEX notes_appealed_by_decider ON notes (settled_by)
  WHERE appeal = 'open' AND settled_by IS NOT NULL;
CREATE INDEX notes_decided ON notes (settled_at DESC, note_id)
  WHERE state IN ('approved', 'rejected', 'removed');
-- The same, filtered by author. `state` is included to count an author's approved and refused notes.
CREATE INDEX notes_decided_of_member ON notes (member_id, settled_at DESC, note_id) INCLUDE (state)
  WHERE member_id IS NOT NULL AND state IN ('approved', 'rejected', 'removed');
CREATE INDEX notes_decided_of_guest ON notes (name, settled_at DESC, note_id)
  WHERE member_id IS NULL AND state IN ('approved', 'rejected', 'removed');
-- Worker: decisions whose appeal period is over (workers/guestbook/close-appeals.ts).
CREATE INDEX notes_appealable ON notes (settled_at)
  WHERE state IN ('rejected', 'removed') AND appeal IS NULL AND member_id IS NOT NULL;
-- Worker: texts past their retention (workers/guestbook/erase-old-notes.ts).
CREATE INDEX notes_erasable ON notes (state, settled_at)
  WHERE state IN ('rejected', 'removed', 'withdrawn') AND erased_at IS NULL;
-- Statistics: notes of a period. BRIN and not btree, because the planner would use a btree's order to
-- find pending notes and walk through all that are decided.
CREATE INDEX notes_in_time ON notes
  USING brin (submitted_at timestamptz_minmax_multi_ops) WITH (autosummarize = on);

-- Reports on notes. Read model (projections/guestbook/note-reports.ts).
CREATE TABLE note_reports (
  report_id uuid PRIMARY KEY,
  note_id uuid NOT NULL,
  member_id uuid,                   -- the reporter; null for a guest
  reason text NOT NULL,
  details text,
  state text NOT NULL,              -- open, kept, removed, withdrawn; silent (reason dismissed before)
  reported_at timestamptz NOT NULL,
  settled_by_event uuid
);
ALTER TABLE note_reports ALTER COLUMN details SET STATISTICS 0;
CREATE INDEX note_reports_of_note ON note_reports (note_id, reported_at);
-- Export of a member's reports.
CREATE INDEX note_reports_exported ON note_reports (member_id, reported_at, report_id)
  WHERE member_id IS NOT NULL;

-- Which addresses reported which note as guests: one report per address. Primary
-- (services/guestbook/author-commands.ts), swept after the retention of rate counters.
CREATE TABLE report_addresses (
  note_id uuid NOT NULL,
  bucket text NOT NULL,             -- keyed hash of the address
  reported_at timestamptz NOT NULL,
  PRIMARY KEY (note_id, bucket)
);
-- The sweep, oldest first.
CREATE INDEX report_addresses_age ON report_addresses (reported_at);

-- Appeals of authors against decisions on their notes. Read model (projections/guestbook/note-appeals.ts).
CREATE TABLE note_appeals (
  appeal_id uuid PRIMARY KEY,
  note_id uuid NOT NULL,
  member_id uuid NOT NULL,          -- the author
  of uuid NOT NULL,                 -- event of the decision that is appealed
  text text,                        -- the author's words
  state text NOT NULL,              -- open, granted, upheld; moot if the decision itself was reversed
  opened_at timestamptz NOT NULL,
  decided_at timestamptz,
  decided_by uuid,                  -- moderator
  message text                      -- the moderator's words to the author
);
ALTER TABLE note_appeals
  ALTER COLUMN text SET STATISTICS 0,
  ALTER COLUMN message SET STATISTICS 0;
CREATE INDEX note_appeals_of_note ON note_appeals (note_id, opened_at);
-- Export and erasure.
CREATE INDEX note_appeals_of_member ON note_appeals (member_id, opened_at);


-- Screening ------------------------------------------------------------------------------------------

-- The latest screening of each note: advice for moderators. Read model (projections/screening/screenings.ts).
CREATE TABLE note_screenings (
  note_id uuid PRIMARY KEY,
  rules_version integer NOT NULL,   -- RULES_VERSION of services/screening/rules.ts
  band text NOT NULL,               -- groups findings for display; decides nothing
  findings jsonb NOT NULL,          -- [{"code": …}, …], without words of the note
  words jsonb,                      -- the words that caused findings
  spans jsonb,                      -- their places in the message: {"<code>": [[start, end], …], …}
  screened_at timestamptz NOT NULL
);
ALTER TABLE note_screenings ALTER COLUMN words SET STATISTICS 0;

-- The notes that have a finding, by its code: where the queue looks first when it is filtered by a rare
-- finding. Read model (projections/screening/screenings.ts).
CREATE TABLE note_findings (
  code text NOT NULL,
  note_id uuid NOT NULL,
  PRIMARY KEY (code, note_id)
);
-- The findings of one note. Without `code`: with it, the planner would also use this index to find the
-- notes of a code when its statistics show another code as the common one.
CREATE INDEX note_findings_of_note ON note_findings (note_id);

-- Keyed hashes of a note's text and of its parts, by which similar notes are found. The order of the key
-- lets a lookup read the newest first and stop early. Read model (projections/screening/screenings.ts).
CREATE TABLE note_fingerprints (
  hash bigint NOT NULL,
  screened_at timestamptz NOT NULL,
  note_id uuid NOT NULL,
  PRIMARY KEY (hash, screened_at, note_id)
);
CREATE INDEX note_fingerprints_of_note ON note_fingerprints (note_id);


-- Publications: profiles and artifacts ---------------------------------------------------------------

-- Members' public profiles, published without review. Read model (projections/profiles/profiles.ts).
CREATE TABLE profiles (
  member_id uuid PRIMARY KEY,
  display_name text,
  summary text,
  links text[],
  capabilities text[],
  state text NOT NULL,              -- published, withdrawn, removed
  version integer NOT NULL,
  published_at timestamptz NOT NULL,
  taken_down_at timestamptz,        -- since when the profile is not public; null while published
  removal_told boolean NOT NULL     -- the member was notified of the removal
);
ALTER TABLE profiles
  ALTER COLUMN display_name SET STATISTICS 0,
  ALTER COLUMN summary SET STATISTICS 0,
  ALTER COLUMN links SET STATISTICS 0,
  ALTER COLUMN capabilities SET STATISTICS 0;
-- The public list, newest first.
CREATE INDEX profiles_published ON profiles (published_at DESC, member_id DESC)
  WHERE state = 'published';
-- What the feed of the activity says was taken down, newest first.
CREATE INDEX profiles_taken_down ON profiles (taken_down_at DESC, member_id)
  WHERE taken_down_at IS NOT NULL;

-- Context packets of members, published without review. Read model (projections/artifacts/artifacts.ts).
CREATE TABLE artifacts (
  artifact_id uuid PRIMARY KEY,
  author_id uuid NOT NULL,
  kind text NOT NULL,               -- handoff, brief, result
  title text,
  content_hash text,                -- of the packet; erased with it
  packet json,                      -- json, not jsonb: returned as its author wrote it
  supersedes_id uuid,               -- the artifact that this artifact replaces
  superseded_by uuid,
  state text NOT NULL,              -- published, withdrawn, removed
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  taken_down_at timestamptz         -- since when the artifact is not public; null while published
);
ALTER TABLE artifacts
  ALTER COLUMN title SET STATISTICS 0,
  ALTER COLUMN content_hash SET STATISTICS 0,
  ALTER COLUMN packet SET STATISTICS 0;
-- An artifact is superseded once at most.
CREATE UNIQUE INDEX artifacts_supersedes ON artifacts (supersedes_id)
  WHERE supersedes_id IS NOT NULL;
-- The public list, newest first, with each combination of its filters.
CREATE INDEX artifacts_published ON artifacts (created_at DESC, artifact_id DESC)
  WHERE state = 'published';
CREATE INDEX artifacts_published_of_kind ON artifacts (kind, created_at DESC, artifact_id DESC)
  WHERE state = 'published';
CREATE INDEX artifacts_published_of_author
  ON artifacts (author_id, created_at DESC, artifact_id DESC) WHERE state = 'published';
CREATE INDEX artifacts_published_of_author_and_kind
  ON artifacts (author_id, kind, created_at DESC, artifact_id DESC) WHERE state = 'published';
-- A member's artifacts in every state: export, and what ends with the account.
CREATE INDEX artifacts_of_author ON artifacts (author_id, created_at, artifact_id);
-- What feeds say was taken down, newest first: all, or an author's.
CREATE INDEX artifacts_taken_down ON artifacts (taken_down_at DESC, artifact_id)
  WHERE taken_down_at IS NOT NULL;
CREATE INDEX artifacts_taken_down_of_author
  ON artifacts (author_id, taken_down_at DESC, artifact_id) WHERE taken_down_at IS NOT NULL;


-- Cases ----------------------------------------------------------------------------------------------

-- Cases. Read model (projections/cases/cases.ts). `version` counts changes of the case's state, claim or
-- removal, and `updated_at` is when the last one happened.
CREATE TABLE cases (
  case_id uuid PRIMARY KEY,
  author_id uuid NOT NULL,
  title text,
  summary text,
  objective text,
  acceptance_criteria text[],
  artifact_id uuid,                 -- a context packet that the author attached
  state text NOT NULL,              -- open, claimed, submitted, accepted, withdrawn
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  claimant_id uuid,                 -- who claimed the case, also while the submission is reviewed
  lease_expires_at timestamptz,     -- end of the claim; a claimed case with a lapsed lease reads as open
  submission_id uuid,               -- under review or accepted
  removed boolean NOT NULL DEFAULT false,     -- by a moderator
  author_gone boolean NOT NULL DEFAULT false, -- the author's account is closed
  taken_down_at timestamptz,        -- since when one of these two is true
  withdrawn_at timestamptz          -- a withdrawn case stays public, but is missing from the activity
);
ALTER TABLE cases
  ALTER COLUMN title SET STATISTICS 0,
  ALTER COLUMN summary SET STATISTICS 0,
  ALTER COLUMN objective SET STATISTICS 0,
  ALTER COLUMN acceptance_criteria SET STATISTICS 0;
-- The public list, newest first, all or in one state.
CREATE INDEX cases_newest ON cases (created_at, case_id) WHERE NOT removed AND NOT author_gone;
CREATE INDEX cases_by_state ON cases (state, created_at, case_id)
  WHERE NOT removed AND NOT author_gone;
-- An author's cases: public list, export, and what ends with the account.
CREATE INDEX cases_of_author ON cases (author_id, created_at, case_id);
-- What feeds say was taken down, newest first: all, an author's, and what is missing from the activity
-- (projections/activity/taken-down.ts; verbatim).
CREATE INDEX cases_taken_down ON cases (taken_down_at DESC, case_id)
  WHERE taken_down_at IS NOT NULL;
CREATE INDEX cases_taken_down_of_author ON cases (author_id, taken_down_at DESC, case_id)
  WHERE taken_down_at IS NOT NULL;
CREATE INDEX cases_inactive ON cases (least(taken_down_at, withdrawn_at) DESC, case_id)
  WHERE least(taken_down_at, withdrawn_at) IS NOT NULL;
-- Lapsed leases: the worker records them; the list of open cases adds them.
CREATE INDEX cases_leases ON cases (lease_expires_at) WHERE state = 'claimed';
-- What a member holds, when the account is closed.
CREATE INDEX cases_held ON cases (claimant_id) WHERE claimant_id IS NOT NULL;

-- The members whom a case concerns: author, claimants, reviewers, and those who noted something. They
-- receive updates about the case, and a command locks them. Read model (projections/cases/case-members.ts).
CREATE TABLE case_members (
  case_id uuid NOT NULL,
  member_id uuid NOT NULL,
  PRIMARY KEY (case_id, member_id)
);

-- Submissions to cases. Read model, as case_reviews and case_notes (projections/cases/case-record.ts).
CREATE TABLE case_submissions (
  submission_id uuid PRIMARY KEY,
  case_id uuid NOT NULL,
  member_id uuid NOT NULL,
  summary text,
  artifact_id uuid,
  created_at timestamptz NOT NULL
);
ALTER TABLE case_submissions ALTER COLUMN summary SET STATISTICS 0;
-- The public record of a case, newest first.
CREATE INDEX case_submissions_of_case ON case_submissions (case_id, created_at, submission_id);
-- Export and erasure.
CREATE INDEX case_submissions_of_member ON case_submissions (member_id, created_at, submission_id);

-- Reviews of submissions.
CREATE TABLE case_reviews (
  review_id uuid PRIMARY KEY,
  case_id uuid NOT NULL,
  submission_id uuid NOT NULL,
  member_id uuid NOT NULL,
  decision text NOT NULL,           -- accept, request_changes, reject
  binding boolean NOT NULL,         -- by the author of the case; others' reviews are advice
  comment text,
  created_at timestamptz NOT NULL
);
ALTER TABLE case_reviews ALTER COLUMN comment SET STATISTICS 0;
CREATE INDEX case_reviews_of_case ON case_reviews (case_id, created_at, review_id);
CREATE INDEX case_reviews_of_member ON case_reviews (member_id, created_at, review_id);

-- Notes of members on cases.
CREATE TABLE case_notes (
  note_id uuid PRIMARY KEY,
  case_id uuid NOT NULL,
  member_id uuid NOT NULL,
  message text,
  state text NOT NULL,              -- published, removed
  version integer NOT NULL,
  created_at timestamptz NOT NULL
);
ALTER TABLE case_notes ALTER COLUMN message SET STATISTICS 0;
CREATE INDEX case_notes_of_case ON case_notes (case_id, created_at, note_id)
  WHERE state = 'published' AND message IS NOT NULL;
CREATE INDEX case_notes_of_member ON case_notes (member_id, created_at, note_id);


-- Reports on records ---------------------------------------------------------------------------------
-- A record is what members publish without review: a profile, an artifact, a case or a note on a case.
-- `subject_type` and `subject_id` name it; a profile's id is the member's.

-- Reports on records. Read model, as reported_records (projections/publications/record-reports.ts).
CREATE TABLE record_reports (
  report_id uuid PRIMARY KEY,
  subject_type text NOT NULL,       -- profile, artifact, case, case_note
  subject_id uuid NOT NULL,
  author_id uuid NOT NULL,          -- of the record
  member_id uuid NOT NULL,          -- the reporter
  reason text NOT NULL,
  details text,
  state text NOT NULL,              -- open, kept, removed, withdrawn; silent (reason dismissed before)
  reported_at timestamptz NOT NULL,
  settled_by_event uuid,
  told_at timestamptz               -- when the reporter was notified of the outcome
);
ALTER TABLE record_reports ALTER COLUMN details SET STATISTICS 0;
CREATE INDEX record_reports_of_subject ON record_reports (subject_type, subject_id, reported_at);
-- Export of a member's reports.
CREATE INDEX record_reports_of_member ON record_reports (member_id, reported_at, report_id);
-- When the author's account is closed. Without `told_at IS NULL`, for the reason given at sessions_expiry.
CREATE INDEX record_reports_of_author ON record_reports (author_id);
-- Worker: reporters to notify that a record was withdrawn.
CREATE INDEX record_reports_untold ON record_reports (reported_at)
  WHERE state = 'withdrawn' AND told_at IS NULL;
-- Statistics: reports of a period.
CREATE INDEX record_reports_in_time ON record_reports (reported_at);

-- One row for each record that was ever reported: what the queue shows, and what a review locks.
CREATE TABLE reported_records (
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  author_id uuid NOT NULL,
  reported_at timestamptz,          -- the oldest open report
  version integer NOT NULL,         -- of the stream of the record's reports
  PRIMARY KEY (subject_type, subject_id)
);
-- The queue, oldest first.
CREATE INDEX reported_records_waiting ON reported_records (reported_at, subject_id)
  WHERE reported_at IS NOT NULL;
-- When the author's account is closed.
CREATE INDEX reported_records_of_author ON reported_records (author_id);


-- Moderation -----------------------------------------------------------------------------------------

-- Moderators, also former ones. Read model (projections/moderation/moderators.ts).
CREATE TABLE moderators (
  moderator_id uuid PRIMARY KEY,
  name text,
  role text NOT NULL,               -- triage, moderator, lead, auditor
  state text NOT NULL,              -- active, revoked
  added_at timestamptz NOT NULL,
  revoked_at timestamptz
);
ALTER TABLE moderators ALTER COLUMN name SET STATISTICS 0;
-- Two active moderators never share a name.
CREATE UNIQUE INDEX moderators_name ON moderators (name) WHERE state = 'active';

-- Browser sessions of moderators. Primary (services/moderation/staff/sessions.ts). A session ends eight hours
-- after `seen_at`, and at `expires_at` in any case.
CREATE TABLE moderator_sessions (
  session_id uuid PRIMARY KEY,
  moderator_id uuid NOT NULL,
  key_id integer NOT NULL,          -- the server key of `hash`
  hash text NOT NULL,               -- keyed hash of the session's secret
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX moderator_sessions_of_moderator ON moderator_sessions (moderator_id);

-- The policies that a rejection or removal names. Read model (projections/moderation/policies.ts, which has the same
-- first rows as its seed).
CREATE TABLE policies (
  code text PRIMARY KEY,
  place integer,                    -- order of the first six; later policies follow by added_at
  title text,
  text text,
  active boolean NOT NULL,
  version integer NOT NULL,
  added_at timestamptz,             -- null for the first six
  messages text[] NOT NULL DEFAULT '{}' -- prepared messages to authors
);
INSERT INTO policies (code, place, title, text, active, version) VALUES
  ('spam', 1, 'Spam', 'Advertising, repeated or automated posting, or links placed to promote something.', true, 1),
  ('abuse', 2, 'Abuse', 'Insults, threats, harassment, or contempt for people because of who they are.', true, 1),
  ('personal_data', 3, 'Personal data', 'Addresses, numbers or other details of a person who has not chosen to publish them.', true, 1),
  ('illegal', 4, 'Illegal', 'Content that may not lawfully be published, or that helps to break the law.', true, 1),
  ('off_topic', 5, 'Off topic', 'Does not belong to this guestbook.', true, 1),
  ('other', 6, 'Other', 'Another reason, which the message to the author explains.', true, 1);

-- Moderators' leases on notes and reported records, at most one for each item and ten for each
-- moderator. Primary (services/moderation/claims/leases.ts). Expired ones are ignored and deleted later.
CREATE TABLE note_leases (
  lease_id uuid PRIMARY KEY,
  subject_type text NOT NULL,       -- note, profile, artifact, case, case_note
  note_id uuid NOT NULL,            -- id of the note or of the record
  moderator_id uuid NOT NULL,
  claimed_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  UNIQUE (note_id, subject_type)
);
CREATE INDEX note_leases_of_moderator ON note_leases (moderator_id);
-- The sweep.
CREATE INDEX note_leases_expiry ON note_leases (expires_at);

-- Decisions on notes. Read model (projections/guestbook/note-decisions.ts).
CREATE TABLE note_decisions (
  event_id uuid PRIMARY KEY,        -- event of the decision
  note_id uuid NOT NULL,
  version integer NOT NULL,         -- the note's version after the decision
  moderator_id uuid,                -- null if the service decided
  -- approved, rejected, removed, restored; kept (reports dismissed); granted, upheld (appeals); deferred,
  -- escalated.
  decision text NOT NULL,
  policy text,
  message text,                     -- the moderator's words: to the author, or why it is put off
  batch_id uuid,                    -- shared by decisions that were made together
  claimed_at timestamptz,           -- when the moderator had claimed the note
  decided_at timestamptz NOT NULL,
  undone_at timestamptz,
  told_at timestamptz               -- when author and reporters were notified
);
ALTER TABLE note_decisions ALTER COLUMN message SET STATISTICS 0;
-- The decision in force on a note.
CREATE INDEX note_decisions_of_note ON note_decisions (note_id, decided_at);
-- What screening learns from: decisions in force, newest first.
CREATE INDEX note_decisions_standing ON note_decisions (decided_at DESC) WHERE undone_at IS NULL;
-- Undo of a batch.
CREATE INDEX note_decisions_of_batch ON note_decisions (batch_id) WHERE batch_id IS NOT NULL;
-- Statistics: decisions of a period.
CREATE INDEX note_decisions_in_time ON note_decisions (decided_at);

-- Decisions on records. Read model (projections/publications/record-decisions.ts).
CREATE TABLE record_decisions (
  event_id uuid PRIMARY KEY,        -- event of the decision
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  author_id uuid NOT NULL,          -- of the record
  moderator_id uuid,                -- null if the service decided
  decision text NOT NULL,           -- removed, restored, kept
  policy text,
  message text,                     -- the moderator's words to the author
  claimed_at timestamptz,           -- when the moderator had claimed the record
  decided_at timestamptz NOT NULL,
  undone_at timestamptz,
  told_at timestamptz               -- when the author was notified
);
ALTER TABLE record_decisions ALTER COLUMN message SET STATISTICS 0;
-- The decision in force on a record.
CREATE INDEX record_decisions_of_subject
  ON record_decisions (subject_type, subject_id, decided_at DESC);
-- Erasure.
CREATE INDEX record_decisions_of_author ON record_decisions (author_id);
-- The queue's view of what was decided, and statistics.
CREATE INDEX record_decisions_in_time ON record_decisions (decided_at DESC, subject_id);


-- Activity -------------------------------------------------------------------------------------------

-- What happened in public. Read model (projections/activity/activity.ts). Title and visibility are read from the
-- subject, so an entry disappears with it.
CREATE TABLE activity (
  entry_id uuid PRIMARY KEY,        -- id of the event
  type text NOT NULL,               -- wire name: 'case.opened'
  occurred_at timestamptz NOT NULL,
  actor jsonb NOT NULL,             -- a moderator is not named
  subject_type text NOT NULL,       -- note, profile, artifact, case
  subject_id uuid NOT NULL
);
CREATE INDEX activity_newest ON activity (occurred_at, entry_id);
-- Entries about a subject that was taken down.
CREATE INDEX activity_of_subject ON activity (subject_id);
-- Entries of one type. The time without a zone is an order that activity_newest cannot give: with it the
-- planner would walk entries of all types to find a rare one.
CREATE INDEX activity_by_type ON activity (type, (occurred_at AT TIME ZONE 'UTC'), entry_id);


-- Search ---------------------------------------------------------------------------------------------

-- Unicode NFKC, so that a word is found however its letters are encoded. Texts that are ASCII or
-- normalized already, as most are, are returned as they are, which is much cheaper.
CREATE FUNCTION composed(words text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(words) = char_length(words) OR words IS NFKC NORMALIZED THEN words
  ELSE normalize(words, NFKC) END;

-- Words of public texts (projections/search/search.ts; verbatim). The statistics of an index would keep words
-- of erased texts, so they are off as well.
CREATE INDEX notes_search ON notes
  USING gin (to_tsvector('simple', composed(coalesce(message, '')))) WHERE state = 'approved';
CREATE INDEX profiles_search ON profiles
  USING gin (to_tsvector('simple',
    composed(coalesce(display_name, '') || ' ' || coalesce(summary, ''))))
  WHERE state = 'published';
CREATE INDEX artifacts_search ON artifacts
  USING gin (to_tsvector('simple',
    composed(coalesce(title, '') || ' ' || coalesce(packet->>'summary', ''))))
  WHERE state = 'published';
CREATE INDEX cases_search ON cases
  USING gin (to_tsvector('simple',
    composed(coalesce(title, '') || ' ' || coalesce(summary, '') || ' ' || coalesce(objective, ''))))
  WHERE NOT removed AND NOT author_gone;
ALTER INDEX notes_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX profiles_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX artifacts_search ALTER COLUMN 1 SET STATISTICS 0;
ALTER INDEX cases_search ALTER COLUMN 1 SET STATISTICS 0;


-- Rebuild --------------------------------------------------------------------------------------------

-- Drops the tables of a rebuild that did not finish: copies of names and texts that no erasure reaches. While
-- the lock is held, a rebuild is running: it ends with the latest erasure, or its tables are dropped later. Runs
-- with the privileges of the owner, because the worker, which erases, may own no tables (services/database-roles.ts).
CREATE FUNCTION drop_unfinished_rebuild() RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_try_advisory_xact_lock(hashtext('rebuild')) THEN
    DROP SCHEMA IF EXISTS rebuild CASCADE;
  END IF;
END $$;
REVOKE EXECUTE ON FUNCTION drop_unfinished_rebuild() FROM PUBLIC;
