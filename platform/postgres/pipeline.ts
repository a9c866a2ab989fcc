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
 * Sends all statements in one round trip and resolves to the rows of each. Outside of a transaction
 * they are one, without BEGIN. Rejects with the first error; the server skips the statements after
 * it, ROLLBACK and COMMIT included. Sends nothing if a value cannot be converted.
 */
export async function pipeline(
  client: pg.ClientBase,
  statements: readonly Sql[],
): Promise<Row[][]> {
  const results = await send(client, statements.map(toQuery));
  return results.map((rows, at) => {
    const convert = statements[at]?.convert;
    return convert ? rows.map((row) => convert(row as never) as Row) : rows;
  });
}

/** Sends converted statements like `pipeline`. Throws `RolledBack` if a final COMMIT failed. */
export async function send(client: pg.ClientBase, queries: readonly Query[]): Promise<Row[][]> {
  const results = await new Promise<pg.QueryResult<Row>[]>((resolve, reject) => {
    const batch = new Batch(queries, (error, result) => {
      if (error) reject(error);
      else resolve([result].flat());
    });
    client.query(batch as unknown as pg.Submittable);
  });
  const last = queries.length - 1;
  if (queries[last]?.text === 'COMMIT' && results[last]?.command !== 'COMMIT')
    throw new RolledBack('not committed');
  return results.map(({ rows }) => rows);
}

type Callback = (error: Error | null, result: pg.QueryResult | pg.QueryResult[]) => void;

/** The part of the driver's connection that its queries use; the types of `pg` do not declare it. */
interface Connection {
  stream: { writable: boolean; write(bytes: Buffer): unknown };
  /** The texts of prepared statements by name: those the server has, and those sent to it. */
  parsedStatements: Record<string, string>;
  submittedNamedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: unknown[] }): void;
  describe(portal: { type: 'P' }): void;
  execute(portal: object): void;
  close(statement: { type: 'S'; name: string }): void;
  sync(): void;
}

interface DriverQuery {
  submit(connection: Connection): null;
  handleReadyForQuery(connection: Connection): void;
  handleError(error: Error, connection: Connection): void;
}
const DriverQuery = pg.Query as unknown as new (config: { text: string }) => DriverQuery;

/**
 * Statements that are sent in one write with one Sync at the end, which the server answers with one
 * write too; the driver's own query has a Sync for each. The driver collects the results like those
 * of one text with several statements.
 */
class Batch extends DriverQuery {
  readonly callback: Callback;
  readonly #queries: readonly Query[];
  /** The names under which this batch prepares statements. */
  #names: string[] = [];

  constructor(queries: readonly Query[], callback: Callback) {
    super({ text: '' });
    this.#queries = queries;
    this.callback = callback;
  }

  override submit(connection: Connection): null {
    const { stream, parsedStatements, submittedNamedStatements } = connection;
    const messages: Buffer[] = [];
    const write = (message: Buffer) => messages.push(message);
    const wire: Connection = Object.create(connection, {
      stream: { value: { writable: true, write } },
    });
    for (const { name, text, values } of this.#queries) {
      if (!(name in parsedStatements || name in submittedNamedStatements)) {
        wire.parse({ name, text });
        // A statement without a name is prepared each time.
        if (name) {
          submittedNamedStatements[name] = text;
          this.#names.push(name);
        }
      }
      wire.bind({ statement: name, values });
      wire.describe({ type: 'P' });
      wire.execute({});
    }
    wire.sync();
    if (stream.writable) stream.write(Buffer.concat(messages));
    return null;
  }

  override handleReadyForQuery(connection: Connection): void {
    for (const [name, text] of this.#forgetSubmitted(connection))
      connection.parsedStatements[name] = text;
    super.handleReadyForQuery(connection);
  }

  /** The server may have prepared some of the statements: closing an unknown one is no error. */
  override handleError(error: Error, connection: Connection): void {
    for (const [name] of this.#forgetSubmitted(connection)) connection.close({ type: 'S', name });
    super.handleError(error, connection);
  }

  #forgetSubmitted({ submittedNamedStatements }: Connection): [name: string, text: string][] {
    const names = this.#names;
    this.#names = [];
    return names.map((name) => {
      const text = submittedNamedStatements[name] as string;
      delete submittedNamedStatements[name];
      return [name, text];
    });
  }
}
