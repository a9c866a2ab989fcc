import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import pg from 'pg';

/** The prepared statements that this process sends to PostgreSQL, by name, and its keyed hashes. */
export interface WorkDone {
  statements: string[];
  hashes: number;
}

interface Wire {
  bind(config: { statement?: string }, more?: boolean): void;
}

/** What the process does beside, such as to record a use, meets at most one of so many runs. */
const RUNS = 4;

/** Records the work of `run`, which is the least of several runs. */
export async function recordWork(run: () => Promise<unknown>): Promise<WorkDone> {
  const runs: WorkDone[] = [];
  for (let n = 0; n < RUNS; n++) runs.push(await recordOnce(run));
  const [least] = runs.sort((a, b) => a.statements.length - b.statements.length);
  return least as WorkDone;
}

async function recordOnce(run: () => Promise<unknown>): Promise<WorkDone> {
  const done: WorkDone = { statements: [], hashes: 0 };
  const wire = (pg as unknown as { Connection: { prototype: Wire } }).Connection.prototype;
  const { bind } = wire;
  const { createHmac } = crypto;
  wire.bind = function (config, more) {
    // Those without a name open a connection or watch the log.
    if (config.statement) done.statements.push(config.statement);
    bind.call(this, config, more);
  };
  crypto.createHmac = (...given) => {
    done.hashes++;
    return createHmac(...given);
  };
  syncBuiltinESMExports();
  try {
    await run();
  } finally {
    wire.bind = bind;
    crypto.createHmac = createHmac;
    syncBuiltinESMExports();
  }
  return done;
}
