-- Undo of answers to reports and appeals ----------------------------------------------------------------

-- Until now these decisions announced themselves, and none of them can be undone: the time of the
-- announcement is that of the decision. From now on it comes after the undo window. Writes one row for each
-- such decision, after one scan of the tables (about 1 s for a million decisions), and locks those rows only.
UPDATE note_decisions SET told_at = decided_at WHERE decision IN ('kept', 'granted', 'upheld');
UPDATE record_decisions SET told_at = decided_at WHERE decision = 'kept';
