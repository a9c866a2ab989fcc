import { hash } from 'node:crypto';

/** A statement with its values; `name` makes it a prepared statement on each connection. */
export interface Sql<Row = unknown> {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** How several of it go as one, where no rule tells that. */
  readonly many?: Many;
  /** What each row that it answers is: of the type alone, nothing has it. */
  readonly row?: Row;
}

interface Many {
  /** The text for so many, with the values of each in turn. */
  text(count: number): string;
  /** Which row it changes: of those that change the same one, only one goes. */
  row?: string;
}

const known = new WeakMap<TemplateStringsArray, { name: string; text: string }>();

/** `sql\`… ${value} …\``: every value becomes a parameter, the text a named prepared statement. */
export function sql<Row = unknown>(parts: TemplateStringsArray, ...values: unknown[]): Sql<Row> {
  let statement = known.get(parts);
  if (!statement) {
    const text = parts.reduce((left, right, index) => `${left}$${index}${right}`);
    statement = { name: hash('sha1', text), text };
    known.set(parts, statement);
  }
  return { ...statement, values };
}

const names = new Map<string, string>();

/** A statement of somebody else's making, by a name of its text. */
export function named<Row = unknown>(text: string, values: unknown[] = []): Sql<Row> {
  const name = names.get(text) ?? hash('sha1', text);
  names.set(text, name);
  return { name, text, values };
}

/** The values of a column that has few: a look into its index for each, however many rows there are. */
export function valuesIn<Row>(table: string, column: string): Sql<Row> {
  const next = (after: string) =>
    `SELECT ${column} FROM ${table} ${after} ORDER BY ${column} LIMIT 1`;
  return named(`WITH RECURSIVE known (value) AS ((${next('')}) UNION ALL
      SELECT (${next(`WHERE ${column} > known.value`)}) FROM known WHERE known.value IS NOT NULL)
    SELECT value AS ${column} FROM known WHERE value IS NOT NULL`);
}

/** `($1::uuid, $2::text), ($3::uuid, …`: so many rows with values of these types. */
export function typedRows(types: readonly string[], count: number): string {
  const rows = Array.from({ length: count }, (_, turn) =>
    types.map((type, index) => `$${turn * types.length + index + 1}::${type}`).join(', '),
  );
  return `(${rows.join('), (')})`;
}

/** What is written for any number of rows, by its text for so many: several of it go as one. */
export function forRows(name: string, text: (count: number) => string): (values: unknown[]) => Sql {
  const one = text(1);
  return (values) => ({ name, text: one, values, many: { text } });
}

/** A text that takes its values from the columns `names` of a table `given`. */
export function ofGiven(text: string, count: number): { text: string; names: string } {
  const names = Array.from({ length: count }, (_, index) => `v${index + 1}`).join(', ');
  return { text: text.replace(/\$(\d+)/g, 'given.v$1'), names };
}

/** An UPDATE of one row, of which several may go as one: `types` are those of its values. */
export function updateOf(row: string, types: readonly string[], statement: Sql): Sql {
  const text = (count: number) => {
    const given = ofGiven(statement.text, types.length);
    const parts = /^(.*)\bWHERE\b(.*)$/s.exec(given.text);
    const [, head, where] = parts as unknown as [string, string, string];
    return `${head} FROM (VALUES ${typedRows(types, count)}) given (${given.names}) WHERE ${where}`;
  };
  return { ...statement, many: { row, text } };
}
