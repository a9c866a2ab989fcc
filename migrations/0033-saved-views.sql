-- Views of the moderators' console that were saved under a name. Locks nothing: the table is new.

-- Primary (services/moderation/views/): no event has them. A moderator's own, at most 20; no filter names an
-- author or an item.
CREATE TABLE saved_views (
  moderator_id uuid NOT NULL,
  view_id uuid NOT NULL,            -- chosen by the client
  name text NOT NULL,               -- chosen by the moderator
  shared boolean NOT NULL,          -- other moderators see it
  view text NOT NULL,               -- of the queue, such as todo
  filters jsonb NOT NULL,           -- as the queue takes them, with the order
  saved_at timestamptz NOT NULL,
  PRIMARY KEY (moderator_id, view_id)
);
ALTER TABLE saved_views
  ALTER COLUMN name SET STATISTICS 0,
  ALTER COLUMN filters SET STATISTICS 0;
-- What moderators share, the newest first.
CREATE INDEX saved_views_shared ON saved_views (saved_at DESC, view_id) WHERE shared;
