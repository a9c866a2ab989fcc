import pg from 'pg';
import type { Sql } from './eventstore/sql.ts';

type Callback = (error: Error | null) => void;

/**
 * Statements that go out together with one Sync, where the driver sends one for each: the server
 * answers all of them at once, and skips what follows an error. `types` are those of the client.
 */
export function pipeline(
  client: pg.ClientBase,
  statements: readonly Sql[],
  types: pg.CustomTypesConfig,
): Promise<pg.QueryResult[]> {
  return new Promise((resolve, reject) => {
    const parts = statements.map(({ name, text, values }) => {
      // Here, so that a value that has no form on the wire fails before anything is sent.
      const prepared = values.map(prepareValue);
      return new pg.Query({ name, text, values: prepared, types }) as Part;
    });
    const callback: Callback = (error) => {
      const unread = error ?? parts.find((part) => part._canceledDueToError)?._canceledDueToError;
      if (unread) reject(unread);
      else resolve(parts.map((part) => part._result));
    };
    client.query(new Pipeline(parts, callback));
  });
}

const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } })
  .utils;

/** What the driver's client and its queries call of each other; its types leave that out. */
interface Part extends pg.Query {
  name: string;
  text: string;
  _result: pg.QueryResult;
  _canceledDueToError: Error | false;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, wire: Wire): void;
}

interface Wire extends pg.Connection {
  submittedNamedStatements: Record<string, string>;
  parsedStatements: Record<string, string>;
  close(statement: { type: 'S'; name: string }): void;
  sync(): void;
}

/** A query to the client, which in pipeline mode takes no other class. */
class Pipeline extends pg.Query {
  readonly callback: Callback;
  readonly #parts: readonly Part[];
  #current = 0;
  #parsed: Part[] = [];

  constructor(parts: readonly Part[], callback: Callback) {
    super('');
    this.#parts = parts;
    this.callback = callback;
    this.submit = (connection) => this.#submit(connection as Wire);
  }

  #submit(wire: Wire): null {
    // Each part does what it does alone, but for its Sync; and all that they write goes as one, since
    // the system takes far longer for a hundred small buffers than for what is in them.
    const chunks: Buffer[] = [];
    const stream = { writable: true, write: (chunk: Buffer) => chunks.push(chunk) > 0 };
    const gathering = Object.create(wire, { stream: { value: stream } }) as Wire;
    const unsynced = Object.create(gathering, { sync: { value: () => undefined } }) as Wire;
    for (const part of this.#parts) {
      if (!(part.name in wire.parsedStatements || part.name in wire.submittedNamedStatements))
        this.#parsed.push(part);
      part.submit(unsynced);
    }
    gathering.sync();
    if (wire.stream.writable) wire.stream.write(Buffer.concat(chunks));
    return null;
  }

  handleRowDescription(message: unknown): void {
    this.#parts[this.#current]?.handleRowDescription(message);
  }

  handleDataRow(message: unknown): void {
    this.#parts[this.#current]?.handleDataRow(message);
  }

  handleCommandComplete(message: unknown, wire: Wire): void {
    this.#parts[this.#current]?.handleCommandComplete(message, wire);
    this.#current++;
  }

  handleReadyForQuery(wire: Wire): void {
    for (const { name, text } of this.#parsed) {
      wire.parsedStatements[name] = text;
      delete wire.submittedNamedStatements[name];
    }
    this.callback(null);
  }

  handleError(error: Error, wire: Wire): void {
    // Which of them the server came to parse does not matter: closing an unknown one is no error.
    for (const { name } of this.#parsed) {
      delete wire.submittedNamedStatements[name];
      wire.close({ type: 'S', name });
    }
    this.callback(error);
  }
}
