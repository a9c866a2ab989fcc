import type pg from 'pg';
import { OLDEST_COMMIT } from '../../services/cluster.ts';
import { PARTITIONS, partitionTables } from '../../services/partitions.ts';

/**
 * Makes one PostgreSQL look like a cluster to processes that start afterwards: partitions in place of shards, and the relations of
 * Citus's catalogue by which the service knows a cluster and its unfinished commits. So the statements for a cluster run, but
 * every commit is visible everywhere, and Citus refuses nothing.
 */
export async function imitateCluster(client: pg.ClientBase): Promise<void> {
  await partitionTables(client, PARTITIONS);
  // No table is listed as distributed, so that a rebuild copies the partitions.
  await client.query(
    `SET allow_system_table_mods = on;
     CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
     INSERT INTO pg_dist_partition VALUES ('events');
     CREATE TABLE pg_catalog.pg_dist_transaction (gid text);
     CREATE VIEW pg_catalog.citus_tables (table_name, citus_table_type, distribution_column)
       AS SELECT NULL::regclass, '', '' WHERE false;
     GRANT SELECT ON pg_dist_partition, pg_dist_transaction, citus_tables TO PUBLIC;
     RESET allow_system_table_mods`,
  );
  await client.query(OLDEST_COMMIT);
  await client.query('DROP TRIGGER events_erase_salt ON events');
}
