-- The log: the one primary record. Everything a projection shows can be made again from it.
CREATE TABLE events (
  owner_id uuid NOT NULL,
  stream_id text NOT NULL,
  stream_version integer NOT NULL CHECK (stream_version > 0),
  position bigint GENERATED ALWAYS AS IDENTITY,
  event_id uuid NOT NULL,
  type text NOT NULL,
  data jsonb NOT NULL,
  personal jsonb,
  actor jsonb NOT NULL,
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (owner_id, stream_id, stream_version)
);

CREATE UNIQUE INDEX events_position ON events (position);

-- Only `personal` may change, only to null, and no row may go.
CREATE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.personal IS NULL AND (
      (NEW.owner_id, NEW.stream_id, NEW.stream_version, NEW.position, NEW.event_id,
       NEW.type, NEW.data, NEW.actor, NEW.recorded_at)
      IS NOT DISTINCT FROM
      (OLD.owner_id, OLD.stream_id, OLD.stream_version, OLD.position, OLD.event_id,
       OLD.type, OLD.data, OLD.actor, OLD.recorded_at))
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

-- Receipts outlive everything: an exact retry is answered for ever.
-- `bound` holds keyed hashes of the secrets in the request, `body_hash` the rest of it.
CREATE TABLE receipts (
  owner_id uuid NOT NULL,
  space text NOT NULL,
  key uuid NOT NULL,
  operation text NOT NULL,
  route text NOT NULL,
  body_hash text NOT NULL,
  bound jsonb,
  http_status smallint NOT NULL,
  reply json,
  event_ids uuid[] NOT NULL,
  recorded_at timestamptz NOT NULL,
  PRIMARY KEY (owner_id, space, key)
);
