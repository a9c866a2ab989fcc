import { hash } from 'node:crypto';

/** A statement with its values. Each connection prepares the statement under `name`. */
export interface Sql<Row = unknown> {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** Set for writes with one array per column; `mergeBatches` can merge those of the same name. */
  readonly batch?: Batch;
  /** Set for reads by key: the batched form, which takes arrays of key values. */
  readonly many?: { readonly name: string; readonly text: string };
  /** What the statement locks; `alone` if its command must run in its own transaction. */
  readonly locks?: RowLocks | 'alone';
  /** Set for a statement of a load that writes: whether it did, by its rows. The write counts only if the command is accepted. */
  readonly writes?: (rows: readonly never[]) => boolean;
  /** Converts each row, such as an event of an older shape. */
  readonly convert?: (row: never) => unknown;
  /** The type of a result row; never set. */
  readonly row?: Row;
}

/** The rows that a statement locks, by names that are unique among all rows, such as a stream's. */
export interface RowLocks {
  /** Rows that no other command may lock at the same time. */
  readonly exclusive?: readonly string[];
  /** Rows that other commands may lock in this way as well. */
  readonly shared?: readonly string[];
}

export interface Batch {
  /** The only table that the statement reads or writes. */
  readonly table: string;
  /** Identifies the row that the write changes: one statement must not change a row twice. */
  readonly key?: string;
}

const templates = new WeakMap<TemplateStringsArray, { name: string; text: string }>();

/** `sql\`… ${value} …\``: values become parameters, and the text a named prepared statement. */
export function sql<Row = unknown>(parts: TemplateStringsArray, ...values: unknown[]): Sql<Row> {
  let statement = templates.get(parts);
  if (!statement) {
    const text = parts.reduce((left, right, index) => `${left}$${index}${right}`);
    statement = { name: hash('sha1', text), text };
    templates.set(parts, statement);
  }
  return { ...statement, values };
}

const names = new Map<string, string>();

/** The prepared statement name of an SQL text: its SHA-1 hash, cached. */
export function statementName(text: string): string {
  const name = names.get(text) ?? hash('sha1', text);
  names.set(text, name);
  return name;
}

/** Wraps SQL text in a statement named by its hash. */
export function named<Row = unknown>(text: string, values: unknown[] = []): Sql<Row> {
  return { name: statementName(text), text, values };
}

/**
 * Marks a statement that locks rows. Without their names its command runs in its own transaction; with them it may
 * share one with commands that lock others.
 */
export function locking<Row>(statement: Sql<Row>, locks: RowLocks | 'alone' = 'alone'): Sql<Row> {
  return { ...statement, locks };
}

/** Distinct values of a low-cardinality column, by a skip scan on its index. */
export function valuesIn<Row>(table: string, column: string): Sql<Row> {
  const next = (after: string) =>
    `SELECT ${column} FROM ${table} ${after} ORDER BY ${column} LIMIT 1`;
  return named(`WITH RECURSIVE known (value) AS ((${next('')}) UNION ALL
      SELECT (${next(`WHERE ${column} > known.value`)}) FROM known WHERE known.value IS NOT NULL)
    SELECT value AS ${column} FROM known WHERE value IS NOT NULL`);
}
