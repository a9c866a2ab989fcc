import type pg from 'pg';
import { takeAdvisoryLock } from '../platform/postgres/advisory-lock.ts';
import { rollBack } from '../platform/postgres/connection.ts';
import { readEngine } from '../platform/postgres/engine.ts';
import { isPooled } from '../platform/postgres/pooler.ts';
import { requireNoProcess } from './connected-processes.ts';
import { OWNED_TABLES, partitionedTables } from './partitions.ts';

export const SHARDS = 32;
export const MAX_SHARDS = 256;

/** The oldest version of Citus on which the service was run. */
const OLDEST_CITUS = [13, 2] as const;
/** A row that a crash left locked waits for this long at most. */
const MAX_RECOVERY_MS = 5000;

const TABLES = Object.keys(OWNED_TABLES) as (keyof typeof OWNED_TABLES)[];
/** Each node has a copy: every page of a feed reads it beside the feed. */
const COPIED = 'log_epochs';
/**
 * Tables of the coordinator that Citus knows, so that a transaction which writes one of them and a table of another node is
 * committed in two phases: the mark of each command, and the salts that go with erased words.
 */
const OF_THE_COORDINATOR = ['write_marks', 'seal_leaves'];

/** What `oldest_two_phase_commit` is on a cluster: the ids of transactions whose commit on other nodes is not yet confirmed. */
export const OLDEST_COMMIT = `CREATE OR REPLACE FUNCTION oldest_two_phase_commit() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT min(newest - ((newest - xmin::text::bigint) % 4294967296 + 4294967296) % 4294967296)
  FROM pg_dist_transaction, (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint) s (newest) $$`;

export interface Distribution {
  shards: number;
  /** Whether the coordinator may be the only node. */
  oneNode: boolean;
}

/**
 * Distributes the log, the receipts and the feeds over the nodes of the cluster, by owner; empty tables or full ones. Returns
 * what was done: nothing if they are distributed. If it is interrupted, nothing has changed, or the next call completes it.
 * Throws if the cluster is not set up for it, with a line for each reason, or if processes of the service are connected.
 */
export async function distributeTables(
  client: pg.Client,
  { shards, oneNode }: Distribution,
  tell: (line: string) => void = () => undefined,
): Promise<'distributed' | 'nothing'> {
  const faults = await findClusterFaults(client, oneNode);
  if (faults.length > 0)
    throw new Error(
      `The tables cannot be distributed:\n${faults.map((one) => `  ${one}`).join('\n')}`,
    );
  const { distributed } = await readEngine(client);
  if (!distributed) {
    await requireNoProcess(client, 'Tables are distributed');
    // A rebuild that has begun would replace the tables by ones of the former layout.
    await takeAdvisoryLock(client, 'rebuild', { tell });
    await distribute(client, shards, tell);
  }
  await emptyFormerTables(client, tell);
  return distributed ? 'nothing' : 'distributed';
}

async function distribute(
  client: pg.Client,
  shards: number,
  tell: (line: string) => void,
): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${TABLES.join(', ')} IN ACCESS EXCLUSIVE MODE`);
    await client.query('SELECT pg_stat_clear_snapshot()');
    await requireNoProcess(client, 'Tables are distributed');
    // Before the tables: Citus makes no function after a copy to several nodes.
    await client.query(OLDEST_COMMIT);
    // On a shard it would look for a table of the coordinator: `eraseWords` erases the salts.
    await client.query('DROP TRIGGER IF EXISTS events_erase_salt ON events');
    // For the triggers that refuse to change the log: each shard gets them.
    await client.query('SET LOCAL citus.enable_unsafe_triggers = on');
    for (const table of TABLES) {
      tell(`Distributing ${table}`);
      const place =
        table === 'events' ? `shard_count => ${shards}` : `colocate_with => 'public.events'`;
      await client.query(
        `SELECT create_distributed_table('public.${table}', '${OWNED_TABLES[table]}', ${place})`,
      );
    }
    await client.query(`SELECT create_reference_table('public.${COPIED}')`);
    for (const table of OF_THE_COORDINATOR)
      await client.query(`SELECT citus_add_local_table_to_metadata('public.${table}')`);
    for (const statement of await planSettings(client)) await client.query(statement);
    await client.query('COMMIT');
  } catch (error) {
    await rollBack(client);
    throw error;
  }
}

/** The statements with which every role plans each statement for its values, as Citus has to. */
async function planSettings(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER DATABASE %I SET plan_cache_mode = ''auto''', current_database()) AS statement
     UNION ALL SELECT format('ALTER ROLE %I IN DATABASE %I SET plan_cache_mode = ''auto''', rolname, datname)
     FROM pg_db_role_setting JOIN pg_roles r ON r.oid = setrole JOIN pg_database d ON d.oid = setdatabase,
       unnest(setconfig) setting
     WHERE datname = current_database() AND setting LIKE 'plan_cache_mode=%'`,
  );
  return rows.map(({ statement }) => statement);
}

/**
 * Empties the files that the tables had on the coordinator before they were distributed: no statement reads them any more, so
 * an erasure would not reach the words in them. Throws if one is left.
 */
async function emptyFormerTables(
  client: pg.ClientBase,
  tell: (line: string) => void,
): Promise<void> {
  for (const table of await formerTables(client)) {
    tell(`Emptying what ${table} was on the coordinator`);
    // The triggers that keep the log would refuse it; the rows are on the nodes.
    await client.query(
      `SET session_replication_role = replica;
       SELECT truncate_local_data_after_distributing_table('public.${table}');
       SET session_replication_role = origin`,
    );
  }
  const left = await formerTables(client);
  if (left.length > 0)
    throw new Error(
      `The coordinator still has rows of ${left.join(', ')} from before they were distributed, which no erasure reaches: run this again`,
    );
}

/** The distributed tables whose files on the coordinator are not empty. */
export async function formerTables(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class JOIN pg_dist_partition p ON p.logicalrelid = pg_class.oid
     WHERE relname = ANY($1) AND relnamespace = 'public'::regnamespace AND pg_relation_size(pg_class.oid) > 0
     ORDER BY 1`,
    [[...TABLES, COPIED]],
  );
  return rows.map(({ name }) => name);
}

/** What a release, or the way a table is replaced, left in another layout, and the SQL or command that mends it. */
export async function findLayoutFaults(
  client: pg.ClientBase,
): Promise<{ fault: string; command: string }[]> {
  const { rows } = await client.query<{ table: string; kind: string; near: boolean }>(
    `SELECT name AS table, CASE WHEN p.partmethod = 'h' THEN 'distributed' WHEN p.repmodel = 't' THEN 'copied'
         WHEN p.partmethod = 'n' THEN 'known' ELSE 'unknown' END AS kind,
       coalesce(p.colocationid = (SELECT colocationid FROM pg_dist_partition
         WHERE logicalrelid = 'public.events'::regclass), false) AS near
     FROM unnest($1::text[]) name
       LEFT JOIN pg_dist_partition p ON p.logicalrelid = to_regclass('public.' || quote_ident(name))`,
    [[...TABLES, COPIED, ...OF_THE_COORDINATOR]],
  );
  const wanted = (table: string) =>
    table === COPIED ? 'copied' : table in OWNED_TABLES ? 'distributed' : 'known';
  const faults = rows
    .filter(({ table, kind, near }) => kind !== wanted(table) || (table in OWNED_TABLES && !near))
    .map(({ table }) => ({
      fault: `The table ${table} is not ${LAYOUT_WORDS[wanted(table)]}`,
      command: layoutCommand(table),
    }));
  const former = await formerTables(client);
  if (former.length > 0)
    faults.push({
      fault: `The coordinator still has rows of ${former.join(', ')} from before they were distributed, which no erasure reaches`,
      command: 'npm run release -- --distribute',
    });
  const { rows: old } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_prepared_xacts WHERE prepared < now() - interval '1 minute'`,
  );
  if (old[0]?.count)
    faults.push({
      fault: `${old[0].count} transactions have been prepared for more than a minute, and hold their locks`,
      command: 'SELECT recover_prepared_transactions()',
    });
  for (const { name, recoveryMs } of await readNodes(client))
    if (recoveryMs < 0 || recoveryMs > MAX_RECOVERY_MS)
      faults.push({
        fault: `${name}: citus.recover_2pc_interval is ${recoveryMs} ms, and a row that a crash left locked waits for so long`,
        command: `ALTER SYSTEM SET citus.recover_2pc_interval = '2s'; SELECT pg_reload_conf()`,
      });
  return faults;
}

const LAYOUT_WORDS: Readonly<Record<string, string>> = {
  distributed: 'distributed beside the log',
  copied: 'copied to every node',
  known: 'known to Citus as one of the coordinator',
};

function layoutCommand(table: string): string {
  if (table === COPIED) return `SELECT create_reference_table('public.${table}')`;
  const column = (OWNED_TABLES as Readonly<Record<string, string>>)[table];
  return column
    ? `stop all processes, and SELECT create_distributed_table('public.${table}', '${column}', colocate_with => 'public.events'), truncate_local_data_after_distributing_table('public.${table}')`
    : `SELECT citus_add_local_table_to_metadata('public.${table}')`;
}

interface Node {
  name: string;
  prepared: number;
  connections: number;
  recoveryMs: number;
  walLevel: string;
}

/** Why the tables cannot be distributed, one sentence each. */
async function findClusterFaults(client: pg.Client, oneNode: boolean): Promise<string[]> {
  const version = await citusVersion(client);
  if (!version)
    return ['The extension citus is not installed in this database: CREATE EXTENSION citus'];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const faults: string[] = [];
  if (major < OLDEST_CITUS[0] || (major === OLDEST_CITUS[0] && minor < OLDEST_CITUS[1]))
    faults.push(`Citus ${version} is older than ${OLDEST_CITUS.join('.')}`);
  const { rows: roles } = await client.query<{ superuser: boolean; sandbox: boolean }>(
    `SELECT rolsuper AS superuser, EXISTS (SELECT FROM sandbox) AS sandbox
     FROM pg_roles WHERE rolname = current_user`,
  );
  if (!roles[0]?.superuser)
    return [
      ...faults,
      'This role is no superuser, which Citus asks for to distribute a table with triggers',
    ];
  if (roles[0].sandbox) faults.push('The database is a sandbox, which a release empties');
  if (await isPooled(client))
    faults.push('The address leads through a pooler: set DATABASE_DIRECT_URL');
  const partitioned = await partitionedTables(client);
  if (partitioned.length > 0)
    faults.push(
      `${partitioned.join(', ')} are partitioned: restore a backup, which makes plain tables`,
    );
  const { rows } = await client.query<{ coordinator: boolean; workers: number }>(
    `SELECT groupid = 0 AS coordinator,
       (SELECT count(*)::int FROM pg_dist_node WHERE isactive AND shouldhaveshards AND noderole = 'primary'
         AND groupid <> 0) AS workers
     FROM pg_dist_local_group`,
  );
  if (!rows[0]?.coordinator)
    faults.push('The address leads to a worker node, not to the coordinator');
  if (rows[0]?.workers === 0 && !oneNode)
    faults.push('No worker node is active: SELECT citus_add_node(…), or --one-node');
  for (const node of await readNodes(client)) faults.push(...nodeFaults(node));
  return faults;
}

function nodeFaults({ name, prepared, connections, recoveryMs, walLevel }: Node): string[] {
  return [
    prepared < 2 * connections &&
      `${name}: max_prepared_transactions is ${prepared}, less than twice max_connections (${connections})`,
    (recoveryMs < 0 || recoveryMs > MAX_RECOVERY_MS) &&
      `${name}: citus.recover_2pc_interval is ${recoveryMs} ms, more than ${MAX_RECOVERY_MS}`,
    walLevel !== 'logical' &&
      `${name}: wal_level is ${walLevel}, with which no shard can move to another node while members write`,
  ].filter((fault) => fault !== false);
}

/** The settings of each node that has shards, and of the coordinator. */
async function readNodes(client: pg.ClientBase): Promise<Node[]> {
  const { rows } = await client.query<{ name: string; success: boolean; result: string }>(
    `SELECT nodename || ':' || nodeport AS name, success, result
     FROM run_command_on_all_nodes($$SELECT json_build_object(
       'prepared', current_setting('max_prepared_transactions')::int,
       'connections', current_setting('max_connections')::int,
       'recoveryMs', (SELECT setting::int FROM pg_settings WHERE name = 'citus.recover_2pc_interval'),
       'walLevel', current_setting('wal_level'))$$) JOIN pg_dist_node USING (nodeid)`,
  );
  return rows.map(({ name, success, result }) => {
    if (!success) throw new Error(`The node ${name} does not answer: ${result}`);
    return { name, ...JSON.parse(result) };
  });
}

/** Such as `13.2.2`; undefined if the database does not have the extension. */
export async function citusVersion(client: pg.ClientBase): Promise<string | undefined> {
  const { rows } = await client.query<{ installed: boolean }>(
    `SELECT to_regproc('pg_catalog.citus_version') IS NOT NULL AS installed`,
  );
  if (!rows[0]?.installed) return undefined;
  const { rows: versions } = await client.query<{ version: string }>(
    'SELECT citus_version() AS version',
  );
  return /\d+(\.\d+)+/.exec(versions[0]?.version ?? '')?.[0];
}
