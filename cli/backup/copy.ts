import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { clientConfig } from '../../platform/postgres/connection.ts';

/** The part of the driver's connection that COPY needs; its types do not describe it. */
interface Connection {
  stream: Socket;
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** A statement in the protocol of the driver, which calls these methods in the order of the messages. */
abstract class Copy {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  submit(connection: Connection): void {
    connection.query(this.text);
  }
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(_message: { text: string }): void {}
  handleCopyInResponse(_connection: Connection): void {}
  handleCopyData(_message: { chunk: Buffer }, _connection: Connection): void {}
  abstract handleReadyForQuery(): void;
  abstract handleError(error: Error): void;
}

class CopyOut extends Copy {
  connection: Connection | undefined;
  readonly rows = new Readable({
    read: () => this.connection?.stream.resume(),
    // The rest of the rows must still arrive, or the connection could not be used or ended.
    destroy: (error, done) => {
      this.connection?.stream.resume();
      done(error);
    },
  });

  override handleCopyData({ chunk }: { chunk: Buffer }, connection: Connection): void {
    this.connection = connection;
    if (this.rows.destroyed) return;
    // The driver overwrites its buffer.
    if (!this.rows.push(Buffer.from(chunk))) connection.stream.pause();
  }
  handleReadyForQuery(): void {
    // After its end, the stream asks for no more rows, which would resume the connection.
    this.connection?.stream.resume();
    if (!this.rows.destroyed) this.rows.push(null);
  }
  handleError(error: Error): void {
    this.connection?.stream.resume();
    this.rows.destroy(error);
  }
}

class CopyIn extends Copy {
  readonly ended = Promise.withResolvers<void>();
  private readonly rows: AsyncIterable<Buffer>;
  private failure: Error | undefined;

  constructor(text: string, rows: AsyncIterable<Buffer>) {
    super(text);
    this.rows = rows;
  }
  override handleCopyInResponse(connection: Connection): void {
    this.send(connection).catch((error: Error) => {
      this.failure = error;
      connection.sendCopyFail('the rows could not be read');
    });
  }
  private async send(connection: Connection): Promise<void> {
    for await (const chunk of this.rows) {
      connection.sendCopyFromChunk(chunk);
      if (connection.stream.writableNeedDrain) await once(connection.stream, 'drain');
    }
    connection.endCopyFrom();
  }
  handleReadyForQuery(): void {
    if (this.failure) this.ended.reject(this.failure);
    else this.ended.resolve();
  }
  handleError(error: Error): void {
    this.failure ??= error;
    this.ended.reject(this.failure);
  }
}

const run = (client: pg.Client, copy: Copy) => client.query(copy as unknown as pg.Submittable);

/** Runs `COPY … TO STDOUT` and returns its rows, in the text format of COPY. */
export function copyOut(client: pg.Client, statement: string): Readable {
  const copy = new CopyOut(statement);
  run(client, copy);
  return copy.rows;
}

/** Runs `COPY … FROM STDIN` with rows in that format. Rejects with the error of the rows, if any. */
export function copyIn(
  client: pg.Client,
  statement: string,
  rows: AsyncIterable<Buffer>,
): Promise<void> {
  const copy = new CopyIn(statement, rows);
  run(client, copy);
  return copy.ended.promise;
}

/** A command waits longer for a busy server than a request does. */
const CONNECT_TIMEOUT_MS = 30_000;

/** COPY needs the connection for itself, so without the pipeline of other connections. */
export const clientConfigOf = (url: string, application: string): pg.ClientConfig => ({
  ...clientConfig(url, application),
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  pipeline: false,
});
