/** What a database is made of, as it says itself. */
export interface Engine {
  /** Whether the log, the receipts and the feeds are distributed over the nodes of a Citus cluster, by owner. */
  distributed: boolean;
}

export const ONE_SERVER: Engine = { distributed: false };

/** A client or a pool. */
interface Queryable {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** Reads the engine, which changes only while no process is connected. */
export async function readEngine(database: Queryable): Promise<Engine> {
  const { rows } = await database.query(
    `SELECT to_regclass('pg_dist_partition') IS NOT NULL AS citus`,
  );
  const [{ citus }] = rows as [{ citus: boolean }];
  if (!citus) return ONE_SERVER;
  const { rows: distributed } = await database.query(
    `SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('public.events')`,
  );
  return { distributed: distributed.length > 0 };
}
