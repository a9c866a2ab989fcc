-- Both locks wait for the transactions in progress and are held for milliseconds, also on large tables:
-- NOT VALID reads no row of the log.

-- JavaScript's largest exact integer: a position beyond it would make every later backup unreadable.
ALTER TABLE events ADD CONSTRAINT events_position_exact
  CHECK (position BETWEEN 1 AND 9007199254740991) NOT VALID;

-- Receipts are kept as they were written, except for what an erasure removes: it empties a receipt
-- (platform/eventstore/receipts.ts), or the words of one member in the case of another member's reply
-- (services/cases/receipts.ts).
CREATE FUNCTION refuse_receipt_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  words constant text[] := ARRAY['{case,title}', '{case,summary}', '{case,objective}',
    '{case,acceptance_criteria}', '{case,submission,summary}'];
  before jsonb;
  after jsonb;
  word text;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (NEW.owner_id, NEW.space, NEW.key, NEW.operation, NEW.route, NEW.http_status,
        NEW.event_ids, NEW.recorded_at)
      IS NOT DISTINCT FROM
      (OLD.owner_id, OLD.space, OLD.key, OLD.operation, OLD.route, OLD.http_status,
        OLD.event_ids, OLD.recorded_at)
      AND NEW.body_hash IN (OLD.body_hash, '')
      AND (NEW.bound IS NULL OR NEW.bound::text = OLD.bound::text)
    THEN
      IF NEW.reply IS NULL OR NEW.reply::text = OLD.reply::text THEN
        RETURN NEW;
      END IF;
      IF json_typeof(OLD.reply->'case') = 'object' AND json_typeof(NEW.reply->'case') = 'object' THEN
        before := OLD.reply;
        after := NEW.reply;
        FOREACH word IN ARRAY words LOOP
          IF coalesce(after #>> word::text[], '') IN ('', '[]') THEN
            before := before #- word::text[];
            after := after #- word::text[];
          END IF;
        END LOOP;
        IF before::text = after::text THEN
          RETURN NEW;
        END IF;
      END IF;
    END IF;
  END IF;
  RAISE EXCEPTION 'receipts are never changed or dropped' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER receipts_keep_rows BEFORE UPDATE OR DELETE ON receipts
  FOR EACH ROW EXECUTE FUNCTION refuse_receipt_change();
CREATE TRIGGER receipts_keep_table BEFORE TRUNCATE ON receipts
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_receipt_change();

-- Server keys that were given up while something needed them (`npm run keys -- retire ID --give-up`), and
-- how much ended with them. Primary (services/membership/retire-key.ts).
CREATE TABLE given_up_keys (
  key_id integer NOT NULL,
  given_up_at timestamptz NOT NULL DEFAULT now(),
  ended jsonb NOT NULL,             -- {"sign_in": 11, "sessions": 1, …}
  PRIMARY KEY (key_id, given_up_at)
);
