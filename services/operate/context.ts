import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import type { KeyRing } from '../../platform/keys/key-ring.ts';
import type { Replicas } from '../../platform/postgres/replica.ts';
import type { Sql } from '../../platform/sql.ts';
import type { ProcessName } from '../../platform/telemetry/logger.ts';

/** What the report is made from. Everything but `read` is known to the process without PostgreSQL. */
export interface OperateDeps {
  config: Config;
  keys: KeyRing;
  pool: pg.Pool;
  pools: Readonly<Record<string, pg.Pool>>;
  replicas?: Replicas | undefined;
  store: { waitsForStandby: () => boolean };
  logWatch: { isLost: () => boolean };
  process: ProcessName;
  /** The tables of each read model. */
  readModels: readonly string[];
  /** Requests that a web process holds open, by the kind of their holder. */
  held?: () => Readonly<Record<string, number>>;
}

export interface Context extends OperateDeps {
  at: Date;
  /** Runs a read within the deadlines of the page. */
  read: <Row>(statement: Sql<Row>) => Promise<Row[]>;
}

/** Seconds between a time and the report; null without a time. */
export const ageSeconds = ({ at }: Pick<Context, 'at'>, time: Date | null | undefined) =>
  time ? Math.max(0, (at.getTime() - time.getTime()) / 1000) : null;
