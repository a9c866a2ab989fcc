-- What moderators folded: waiting notes of guests that one row of the queue stands for. Locks nothing: the table is new.

-- Primary (services/moderation/folds/): no event has them. At most ten, since a new one takes the place of those that
-- are over. No hash of a text and no key of an address is copied: a fold is over when its note has lost them.
CREATE TABLE note_folds (
  kind text NOT NULL CHECK (kind IN ('text', 'address')),
  note_id uuid NOT NULL,            -- the guest's note that the others are like
  moderator_id uuid NOT NULL,
  folded_at timestamptz NOT NULL,
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (kind, note_id)
);
