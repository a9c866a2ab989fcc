-- Numbers that are equal may be written in several ways (1 and 1.000), and what an event says is
-- kept to the letter.
CREATE OR REPLACE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
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
