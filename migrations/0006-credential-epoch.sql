-- A credential carries the key epoch of its member, so that a recovery ends all of them with one row.
ALTER TABLE credentials ADD COLUMN key_epoch integer NOT NULL;
