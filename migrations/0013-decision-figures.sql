-- What the statistics say of each decision. Read model (projections/moderation/decision-figures.ts). One
-- narrow row per decision, and two indexes that hold all that is read: the figures of a period touched
-- 460,000 buffers for 80,000 decisions, and 700 with them. Counters by day would not be smaller: percentiles
-- need the times of each moderator and day, and a moderator decides hundreds of times a day.
-- Locks note_decisions for a moment; reads notes, decisions and findings once (about 8 s for 230,000 decisions
-- on a busy machine). A process of the release before does not write it; `npm run rebuild` fills it afterwards.
CREATE TABLE decision_figures (
  event_id uuid PRIMARY KEY,        -- event of the decision
  note_id uuid,                     -- null for a decision on a record
  decided_at timestamptz NOT NULL,
  moderator_id uuid,                -- null if the service decided
  decision text NOT NULL,           -- all but deferred and escalated
  age integer,                      -- seconds from arrival to an approval or rejection, or from the oldest report
  handling integer,                 -- seconds since the claim; null without one
  overturned boolean NOT NULL,      -- undone, or followed by the opposite decision
  findings text[],                  -- codes that screening found in the note; null if none
  confirmed boolean                 -- whether such a note is rejected or removed; null if it is pending or withdrawn
);
INSERT INTO decision_figures (event_id, note_id, decided_at, moderator_id, decision, age, handling,
  overturned, findings, confirmed)
SELECT d.event_id, d.note_id, d.decided_at, d.moderator_id, d.decision,
  CASE WHEN d.decision IN ('approved', 'rejected')
    THEN round(extract(epoch FROM d.decided_at - n.submitted_at))::int END,
  round(extract(epoch FROM d.decided_at - d.claimed_at))::int,
  d.undone_at IS NOT NULL OR EXISTS (SELECT FROM note_decisions later
    WHERE later.note_id = d.note_id AND later.decided_at > d.decided_at AND later.undone_at IS NULL
      AND CASE d.decision WHEN 'approved' THEN later.decision = 'removed'
        WHEN 'rejected' THEN later.decision IN ('restored', 'granted')
        WHEN 'removed' THEN later.decision IN ('restored', 'granted') END),
  f.codes,
  CASE WHEN f.codes IS NOT NULL AND n.state IN ('approved', 'rejected', 'removed')
    THEN n.state <> 'approved' END
FROM note_decisions d JOIN notes n ON n.note_id = d.note_id
  LEFT JOIN (SELECT note_id, array_agg(code ORDER BY code) AS codes FROM note_findings GROUP BY note_id) f
    ON f.note_id = d.note_id
WHERE d.decision NOT IN ('deferred', 'escalated')
UNION ALL
SELECT d.event_id, NULL, d.decided_at, d.moderator_id, d.decision,
  (SELECT round(extract(epoch FROM d.decided_at - min(r.reported_at)))::int FROM record_reports r
    WHERE r.subject_type = d.subject_type AND r.subject_id = d.subject_id
      AND r.settled_by_event = d.event_id),
  round(extract(epoch FROM d.decided_at - d.claimed_at))::int,
  d.undone_at IS NOT NULL OR d.decision = 'removed' AND EXISTS (SELECT FROM record_decisions later
    WHERE later.subject_type = d.subject_type AND later.subject_id = d.subject_id
      AND later.decided_at > d.decided_at AND later.undone_at IS NULL AND later.decision = 'restored'),
  NULL, NULL
FROM record_decisions d;
CREATE INDEX decision_figures_in_time ON decision_figures (decided_at)
  INCLUDE (moderator_id, decision, age, handling, overturned);
CREATE INDEX decision_figures_found ON decision_figures (decided_at)
  INCLUDE (note_id, findings, confirmed) WHERE findings IS NOT NULL AND confirmed IS NOT NULL;
-- The former index of the statistics, found by its definition: a rebuild by an earlier release named
-- indexes anew.
DO $$ DECLARE former regclass; BEGIN
  FOR former IN SELECT indexrelid FROM pg_index WHERE indrelid = 'note_decisions'::regclass
    AND substring(pg_get_indexdef(indexrelid) FROM 'USING (.*)') = 'btree (decided_at)'
  LOOP EXECUTE 'DROP INDEX ' || former; END LOOP;
END $$;
