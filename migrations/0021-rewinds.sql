-- Which rewind of a moderator undid a decision (projections/guestbook/note-decisions.ts), so that the rewind
-- can be undone as one batch. Locks note_decisions for a moment; no row is rewritten. A process of the
-- release before does not write it; `npm run rebuild` fills it afterwards.
ALTER TABLE note_decisions ADD COLUMN rewound_in uuid; -- the batch that undid it; null if another undo did
CREATE INDEX note_decisions_rewound ON note_decisions (rewound_in, note_id)
  WHERE rewound_in IS NOT NULL;
