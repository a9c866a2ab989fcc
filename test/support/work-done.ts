import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import pg from 'pg';

/** The statements that this process sends to PostgreSQL, and how many keyed hashes it makes. */
export interface WorkDone {
  statements: string[];
  hashes: number;
}

interface Wire {
  bind(config: { statement?: string }, more?: boolean): void;
  query(text: string): void;
}

/**
 * Records the work of `run`: prepared statements by name, others by text. Nothing else may use the
 * database of the test meanwhile.
 */
export async function recordWork(run: () => Promise<unknown>): Promise<WorkDone> {
  const done: WorkDone = { statements: [], hashes: 0 };
  const wire = (pg as unknown as { Connection: { prototype: Wire } }).Connection.prototype;
  const { bind, query } = wire;
  const { createHmac } = crypto;
  wire.bind = function (config, more) {
    done.statements.push(config.statement ?? '');
    bind.call(this, config, more);
  };
  wire.query = function (text) {
    done.statements.push(text);
    query.call(this, text);
  };
  crypto.createHmac = (...given) => {
    done.hashes++;
    return createHmac(...given);
  };
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    Object.assign(wire, { bind, query });
    crypto.createHmac = createHmac;
    syncBuiltinESMExports();
  }
  return done;
}
