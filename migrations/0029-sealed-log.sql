-- The sealed log (docs/verification/sealed-log.md): a Merkle tree over the events, which a job extends after they
-- are committed (services/seal/). Primary: salts cannot be made again. Locks events against writes for
-- milliseconds, to create the trigger, and reads none of its rows.

-- Trees and their last signed checkpoints, one for each epoch of the log.
CREATE TABLE seal_trees (
  epoch bigint PRIMARY KEY,
  origin text NOT NULL,             -- first line of the checkpoints, and the name of the keys
  verifiers text[] NOT NULL,        -- every key that has signed a checkpoint of the tree, as name+id+key
  previous text,                    -- origin, size and root of the tree before
  size bigint NOT NULL,             -- leaves
  position bigint NOT NULL,         -- last event of the log in the tree
  checkpoint text NOT NULL,         -- signed note of this size
  signed_at timestamptz NOT NULL,
  refusal text                      -- why nothing was signed when it was last tried
);

-- Hashes of the tree, 256 in a full row. Rows only ever grow.
CREATE TABLE seal_tiles (
  epoch bigint NOT NULL,
  level smallint NOT NULL,          -- 0: leaves; each level above has one hash for each 256 below
  index bigint NOT NULL,
  hashes bytea NOT NULL,
  PRIMARY KEY (epoch, level, index)
);
ALTER TABLE seal_tiles ALTER COLUMN hashes SET STORAGE EXTERNAL;

-- What opens the leaf of each event: a salt of its facts, and of its words until they are erased.
CREATE TABLE seal_leaves (
  position bigint PRIMARY KEY,
  epoch bigint NOT NULL,            -- tree that has the leaf; that of an earlier one has the same salts
  leaf bigint NOT NULL,             -- number of the leaf, from 0
  facts_salt bytea NOT NULL,
  words_commitment bytea,           -- null: the event had no words when it was sealed
  words_salt bytea
);

-- An erasure of an event's words erases their salt, whatever statement does it. The lock makes a batch that is
-- being sealed visible to the second statement, or has the batch wait and find the words gone.
CREATE FUNCTION erase_words_salt() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('seal-log'));
  UPDATE seal_leaves SET words_salt = NULL WHERE position = OLD.position AND words_salt IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER events_erase_salt AFTER UPDATE ON events
  FOR EACH ROW WHEN (OLD.personal IS NOT NULL AND NEW.personal IS NULL) EXECUTE FUNCTION erase_words_salt();
