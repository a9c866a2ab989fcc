import type pg from 'pg';
import { OLDEST_COMMIT } from '../../services/cluster.ts';
import { PARTITIONS, partitionTables } from '../../services/partitions.ts';

/**
 * Makes one PostgreSQL look like a cluster to processes that start afterwards: partitions in place of shards, and the two tables of
 * Citus's catalogue by which the service knows a cluster and its unfinished commits. So the statements for a cluster run, but
 * every commit is visible everywhere, and Citus refuses nothing.
 */
export async function imitateCluster(client: pg.ClientBase): Promise<void> {
  await partitionTables(client, PARTITIONS);
  await client.query(
    `CREATE TABLE pg_dist_partition (logicalrelid regclass);
     INSERT INTO pg_dist_partition VALUES ('events');
     CREATE TABLE pg_dist_transaction (gid text)`,
  );
  await client.query(OLDEST_COMMIT);
  await client.query('DROP TRIGGER events_erase_salt ON events');
}
