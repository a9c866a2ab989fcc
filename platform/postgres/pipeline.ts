import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { Sql } from '../sql.ts';

type Row = Record<string, unknown>;

/** The server answered COMMIT with ROLLBACK instead of an error: the transaction had failed. */
export class RolledBack extends Error {}

/** The driver's conversion of a value to its wire format; the types of `pg` do not declare it. */
export const { prepareValue } = (
  pg as unknown as { utils: { prepareValue(value: unknown): unknown } }
).utils;

/** A statement whose values are in wire format. */
export type Query = Pick<Sql, 'name' | 'text' | 'values'>;

/** Converts a statement's values. Throws if a value has no wire format, such as a cyclic object. */
export const toQuery = ({ name, text, values }: Sql): Query => ({
  name,
  text,
  values: values.map(prepareValue),
});

/**
 * Sends all statements in one round trip and resolves to the rows of each. Rejects with the first
 * error; in a transaction, the server rejects the statements after it. Sends nothing if a value
 * cannot be converted, so that no COMMIT follows a missing statement.
 */
export async function pipeline(
  client: pg.ClientBase,
  statements: readonly Sql[],
): Promise<Row[][]> {
  return send(client, statements.map(toQuery));
}

/** Sends converted statements like `pipeline`. Throws `RolledBack` if a final COMMIT failed. */
export async function send(client: pg.ClientBase, queries: readonly Query[]): Promise<Row[][]> {
  const { stream } = (client as unknown as { connection: { stream: Duplex } }).connection;
  // One write to the socket for all statements: the system takes longer for many small ones.
  stream.cork();
  const answers = queries.map((query) => client.query<Row>(query));
  stream.uncork();
  const results = await Promise.all(answers);
  const last = queries.length - 1;
  if (queries[last]?.text === 'COMMIT' && results[last]?.command !== 'COMMIT')
    throw new RolledBack('not committed');
  return results.map(({ rows }) => rows);
}
