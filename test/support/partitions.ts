import type pg from 'pg';

/** The tables that a cluster distributes, each with the column that holds its owner. */
export const OWNED_TABLES = {
  events: 'owner_id',
  receipts: 'owner_id',
  feed: 'member_id',
  feed_heads: 'member_id',
} as const;

/** A partition is named `TABLE_pNUMBER`; the rows of one owner have one number in all tables. */
export const PARTITIONS = 8;

/**
 * Turns the four tables, which must be empty, into tables that are partitioned by their owner, as a
 * cluster distributes them. PostgreSQL then refuses the keys that a cluster refuses, and a query
 * plan shows which owners a statement reads. Columns, names, indexes and triggers stay the same.
 */
export async function partitionByOwner(client: pg.ClientBase): Promise<void> {
  if (await isPartitioned(client)) return;
  const views = await viewsOf(client);
  await client.query('CREATE SCHEMA whole');
  for (const [table, owner] of Object.entries(OWNED_TABLES)) {
    const definitions = await definitionsOf(client, table);
    await client.query(`ALTER TABLE ${table} SET SCHEMA whole`);
    // The names of the old table's indexes and sequence are free again in this schema.
    await client.query(`CREATE TABLE ${table} (LIKE whole.${table} INCLUDING ALL EXCLUDING INDEXES)
      PARTITION BY HASH (${owner})`);
    for (let number = 0; number < PARTITIONS; number++)
      await client.query(`CREATE TABLE ${table}_p${number} PARTITION OF ${table}
        FOR VALUES WITH (MODULUS ${PARTITIONS}, REMAINDER ${number})`);
    for (const definition of definitions) await client.query(definition);
    await nameIndexes(client, table);
  }
  await client.query('DROP SCHEMA whole CASCADE');
  for (const definition of views) await client.query(definition);
}

/** The statements that make the views again, which name the tables that are replaced. */
async function viewsOf(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT format('CREATE OR REPLACE VIEW %s AS %s', oid::regclass, pg_get_viewdef(oid)) AS definition
     FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace`,
  );
  return rows.map(({ definition }) => definition);
}

/** Names the index of a partition after the table's, so that plans can be read: `events_audit_p3`. */
async function nameIndexes(client: pg.ClientBase, table: string): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `SELECT format('ALTER INDEX %s RENAME TO %I', part.indexrelid::regclass,
       whole.relname || substr(part.indrelid::regclass::text, length($1) + 1)) AS statement
     FROM pg_index owned JOIN pg_class whole ON whole.oid = owned.indexrelid
     JOIN pg_inherits ON inhparent = owned.indexrelid JOIN pg_index part ON part.indexrelid = inhrelid
     WHERE owned.indrelid = $1::regclass`,
    [table],
  );
  for (const { statement } of rows) await client.query(statement);
}

async function isPartitioned(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM pg_class WHERE oid = 'events'::regclass AND relkind = 'p'`,
  );
  return rows.length > 0;
}

/** The statements that make the table's keys, indexes, statistics targets and triggers again. */
async function definitionsOf(client: pg.ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ definition: string }>(
    `SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s', $1::text, conname, pg_get_constraintdef(oid))
       AS definition FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u')
     UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = $1::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
     UNION ALL SELECT format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', $1::text, attname,
       attstattarget) FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0
       AND attstattarget >= 0
     UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = $1::regclass
       AND NOT tgisinternal`,
    [table],
  );
  return rows.map(({ definition }) => definition);
}
