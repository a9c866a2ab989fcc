-- How many decisions and appeals each week has, for the public transparency page. Read model
-- (projections/moderation/decision-figures.ts, moderation-weeks.ts): its rows grow with the weeks, not
-- with the decisions, of which a year may have 100,000.
-- Locks decision_figures for a moment; reads it, the decisions and the appeals once (about 2 s for 230,000
-- decisions). A process of the release before does not count; `npm run rebuild` corrects it afterwards.
ALTER TABLE decision_figures ADD COLUMN undone boolean NOT NULL DEFAULT false;
UPDATE decision_figures f SET undone = true FROM (
  SELECT event_id FROM note_decisions WHERE undone_at IS NOT NULL
  UNION ALL SELECT event_id FROM record_decisions WHERE undone_at IS NOT NULL) d
WHERE f.event_id = d.event_id;

CREATE TABLE moderation_weeks (
  week date NOT NULL,               -- the Monday (UTC) on which it begins
  subject text NOT NULL,            -- note or record
  outcome text NOT NULL,            -- the decision, without those that were undone; or appealed
  policy text NOT NULL,             -- empty where a decision has none
  age integer NOT NULL,             -- seconds, the first two digits; -1 if not measured
  count integer NOT NULL,
  PRIMARY KEY (week, subject, outcome, policy, age)
);
CREATE INDEX moderation_weeks_empty ON moderation_weeks (week) WHERE count = 0;
INSERT INTO moderation_weeks (week, subject, outcome, policy, age, count)
SELECT date_trunc('week', f.decided_at AT TIME ZONE 'UTC')::date,
  CASE WHEN f.note_id IS NULL THEN 'record' ELSE 'note' END, f.decision, coalesce(d.policy, ''),
  CASE WHEN f.age IS NULL THEN -1 WHEN f.age < 100 THEN greatest(f.age, 0)
    ELSE trunc(f.age, 2 - length(f.age::text))::int END, count(*)
FROM decision_figures f JOIN (
  SELECT event_id, policy FROM note_decisions
  UNION ALL SELECT event_id, policy FROM record_decisions) d ON d.event_id = f.event_id
WHERE NOT f.undone GROUP BY 1, 2, 3, 4, 5
UNION ALL
SELECT date_trunc('week', opened_at AT TIME ZONE 'UTC')::date, 'note', 'appealed', '', -1, count(*)
FROM note_appeals GROUP BY 1;
