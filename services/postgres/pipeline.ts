import pg from 'pg';
import type { Sql } from '../eventstore/sql.ts';
import { types } from './value-parsers.ts';

type Row = Record<string, unknown>;

/** The server answered COMMIT with ROLLBACK, which it tells as no error: the transaction had failed. */
export class RolledBack extends Error {}

/**
 * Statements that go out together with one Sync, where the driver sends one for each: the server
 * answers all of them at once, and skips what follows an error. Answers the rows of each. Where a
 * value has no form on the wire it throws at once, and nothing is sent.
 */
export function pipeline(client: pg.ClientBase, statements: readonly Sql[]): Promise<Row[][]> {
  return openPipeline(client).end(statements);
}

/**
 * The same, for statements that are made while the server is at work on the first. Each `send` goes
 * out as it is; `end` must follow within this turn of the loop, and answers the rows of all.
 */
export function openPipeline(client: pg.ClientBase) {
  const parts: Part[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Row[][]>();
  const query = new Pipeline(parts, (error) => {
    if (error) reject(error);
    else resolve(parts.map(({ rows }) => rows));
  });

  function send(statements: readonly Sql[], last = false): void {
    const more = statements.map(({ name, text, values }): Part => {
      return { name, text, values: values.map(prepareValue), rows: [] };
    });
    const first = parts.length === 0;
    parts.push(...more);
    query.ended = last;
    if (first) client.query(query);
    else query.write(more);
  }

  return {
    send: (statements: readonly Sql[]) => send(statements),
    end(statements: readonly Sql[]): Promise<Row[][]> {
      send(statements, true);
      return promise;
    },
  };
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } })
  .utils;

type Callback = (error: Error | null) => void;

interface Part {
  name: string;
  text: string;
  values: unknown[];
  rows: Row[];
}

interface Column {
  name: string;
  read(text: string): unknown;
}

/** What the driver's connection does for its queries; its types leave that out. */
interface Wire {
  stream: { writable: boolean; write(bytes: Buffer): boolean };
  submittedNamedStatements: Record<string, string>;
  parsedStatements: Record<string, string>;
  parse(statement: { name: string; text: string }): void;
  bind(portal: { statement: string; values: unknown[] }): void;
  describe(portal: { type: 'P' }): void;
  execute(portal: Record<string, never>): void;
  close(statement: { type: 'S'; name: string }): void;
  sync(): void;
}

interface Connection {
  /** A wire that gathers what is written, since the system takes far longer for many small buffers. */
  gathering: Wire;
  chunks: Buffer[];
  /** What each statement answers, told by the server the first time; none where it has no rows. */
  columns: Map<string, readonly Column[]>;
}

const connections = new WeakMap<Wire, Connection>();

function connectionOf(wire: Wire): Connection {
  let connection = connections.get(wire);
  if (!connection) {
    const chunks: Buffer[] = [];
    const stream = { writable: true, write: (chunk: Buffer) => chunks.push(chunk) > 0 };
    const gathering = Object.create(wire, { stream: { value: stream } }) as Wire;
    connection = { gathering, chunks, columns: new Map() };
    connections.set(wire, connection);
  }
  return connection;
}

/** A query to the client, which in pipeline mode takes no other class. */
class Pipeline extends pg.Query {
  readonly callback: Callback;
  /** Whether all of its parts have been given. */
  ended = false;
  readonly #parts: readonly Part[];
  #wire: Wire | undefined;
  #current = 0;
  #parsed: Part[] = [];
  #columns: readonly Column[] | undefined;
  #known: Connection['columns'] = new Map();
  #failed: Error | null = null;

  constructor(parts: readonly Part[], callback: Callback) {
    super('');
    this.#parts = parts;
    this.callback = callback;
    this.submit = (connection) => {
      this.#wire = connection as unknown as Wire;
      return this.write(this.#parts);
    };
  }

  /** Before the client submits it, all of its parts wait for that. */
  write(parts: readonly Part[]): null {
    const wire = this.#wire;
    if (!wire) return null;
    const { gathering, chunks, columns } = connectionOf(wire);
    this.#known = columns;
    for (const part of parts) {
      const { name, text, values } = part;
      if (!(name in wire.parsedStatements || name in wire.submittedNamedStatements)) {
        gathering.parse({ name, text });
        wire.submittedNamedStatements[name] = text;
        this.#parsed.push(part);
      }
      gathering.bind({ statement: name, values });
      if (!columns.has(name)) gathering.describe({ type: 'P' });
      gathering.execute({});
    }
    if (this.ended) gathering.sync();
    if (wire.stream.writable) wire.stream.write(Buffer.concat(chunks));
    chunks.length = 0;
    return null;
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => {
      return { name, read: types.getTypeParser(dataTypeID, 'text') };
    });
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const part = this.#parts[this.#current];
    const columns = this.#columns ?? this.#known.get(part?.name ?? '') ?? [];
    const row: Row = {};
    try {
      for (const [index, { name, read }] of columns.entries()) {
        const text = fields[index] ?? null;
        row[name] = text === null ? null : read(text);
      }
      part?.rows.push(row);
    } catch (error) {
      this.#failed ??= error as Error;
    }
  }

  handleCommandComplete({ text: tag }: { text: string }): void {
    const { name, text } = this.#parts[this.#current++] as Part;
    if (text === 'COMMIT' && tag !== text) this.#failed ??= new RolledBack('not committed');
    if (!this.#known.has(name)) this.#known.set(name, this.#columns ?? []);
    this.#columns = undefined;
  }

  handleReadyForQuery(wire: Wire): void {
    for (const { name, text } of this.#parsed) {
      wire.parsedStatements[name] = text;
      delete wire.submittedNamedStatements[name];
    }
    this.callback(this.#failed);
  }

  handleError(error: Error, wire: Wire): void {
    // Which of them the server came to parse does not matter: closing an unknown one is no error.
    for (const { name } of this.#parsed) {
      delete wire.submittedNamedStatements[name];
      this.#known.delete(name);
      wire.close({ type: 'S', name });
    }
    this.callback(error);
  }
}
