import pg from 'pg';
import type { Sql } from '../sql.ts';

type Row = Record<string, unknown>;

/** The server answered COMMIT with ROLLBACK, which is no error on the wire: the transaction had failed. */
export class RolledBack extends Error {}

// The driver's own conversion of a value to its text on the wire.
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } })
  .utils;

/** A statement as it is sent: its values have a form on the wire. */
export type Query = Pick<Sql, 'name' | 'text' | 'values'>;

/** Throws where a value has no form on the wire, such as an object that contains itself. */
export const toQuery = ({ name, text, values }: Sql): Query => ({
  name,
  text,
  values: values.map(prepareValue),
});

/**
 * Sends statements together, without waiting for the answer to each, and resolves to the rows of
 * each. Rejects with the first error; in a transaction the server refuses what follows it. Nothing is
 * sent where a value cannot be, so that no COMMIT follows a missing statement.
 */
export async function pipeline(
  client: pg.ClientBase,
  statements: readonly Sql[],
): Promise<Row[][]> {
  return send(client, statements.map(toQuery));
}

export async function send(client: pg.ClientBase, queries: readonly Query[]): Promise<Row[][]> {
  const results = await Promise.all(queries.map((query) => client.query<Row>(query)));
  const last = queries.length - 1;
  if (queries[last]?.text === 'COMMIT' && results[last]?.command !== 'COMMIT')
    throw new RolledBack('not committed');
  return results.map(({ rows }) => rows);
}
