import pg from 'pg';
import { nameOf, type Sql } from './sql.ts';

/** Column names with their PostgreSQL types. */
type Columns = Readonly<Record<string, string>>;
type Row<Of extends Columns> = { readonly [Name in keyof Of]: unknown };

// The driver's conversion of a value to its wire format; the types of `pg` do not declare it.
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } })
  .utils;

/** `unnest` flattens arrays, so the values of an array column are sent as text. */
const isArray = (type: string) => type.endsWith('[]');
const isJson = (type: string) => type === 'json' || type === 'jsonb';

/** Converts a value for its column. For a JSON column, a string must be JSON text already. */
function encode(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (isJson(type)) return typeof value === 'string' ? value : JSON.stringify(value);
  return isArray(type) ? prepareValue(value) : value;
}

/** `unnest($1::uuid[], $2::text[]) AS given (a, b)`: rows as one array parameter per column. */
function givenRows(columns: Columns): string {
  const arrays = Object.values(columns).map(
    (type, at) => `$${at + 1}::${isArray(type) ? 'text' : type}[]`,
  );
  return `unnest(${arrays.join(', ')}) AS given (${Object.keys(columns).join(', ')})`;
}

/**
 * Defines a write of one row that `mergeBatches` can combine with others. `text` builds the SQL
 * around `given`, the rows, and must use no table but `table`. If the statement can update an
 * existing row, `target` names the columns that identify that row.
 */
export function defineBatch<const Of extends Columns>(
  table: string,
  columns: Of,
  text: (given: string) => string,
  target: readonly (keyof Of & string)[] = [],
): (row: Row<Of>) => Sql {
  const types = Object.entries(columns);
  const whole = text(givenRows(columns));
  const name = nameOf(whole);
  return (row) => {
    const identity = target.map((column) => row[column]);
    return {
      name,
      text: whole,
      values: types.map(([column, type]) => [encode(type, row[column])]),
      batch: identity.length > 0 ? { table, target: JSON.stringify(identity) } : { table },
    };
  };
}

/** Defines an INSERT into these columns. `conflict` says what an upsert does if the key exists. */
export function defineInsert<const Of extends Columns>(
  table: string,
  columns: Of,
  conflict?: { key: readonly (keyof Of & string)[]; action: string },
): (row: Row<Of>) => Sql {
  const selected = Object.entries(columns).map(([column, type]) =>
    isArray(type) ? `${column}::${type}` : column,
  );
  const otherwise = conflict ? ` ON CONFLICT (${conflict.key.join(', ')}) ${conflict.action}` : '';
  return defineBatch(
    table,
    columns,
    (given) => `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
      SELECT ${selected.join(', ')} FROM ${given}${otherwise}`,
    conflict?.key,
  );
}

/** The batched form of every read by key; a test checks their query plans. */
export const readsByKey: Sql[] = [];
const arraysOfNothing = (count: number): unknown[] => Array.from({ length: count }, () => []);

/** Result column of a batched read: the 1-based index of the key that the row belongs to. */
export const TURN = '#';

/**
 * Defines a read by key; `select` builds the SQL around references to the key's values. The batched
 * form runs the lookup once for each key: LATERAL with OFFSET 0 keeps the planner from joining the
 * whole table, as a plan that was cached while the table was small would do.
 */
export function defineRead<Row, const Of extends Columns = Columns>(
  key: Of,
  select: (key: Readonly<Record<keyof Of, string>>) => string,
): (values: { readonly [Name in keyof Of]: unknown }) => Sql<Row> {
  const columns = Object.entries(key);
  const references = (reference: (column: string, at: number) => string) =>
    Object.fromEntries(columns.map(([column], at) => [column, reference(column, at)])) as never;
  const text = select(references((column, at) => `$${at + 1}::${key[column]}`));
  const arrays = columns.map(([, type], at) => `$${at + 1}::${type}[]`).join(', ');
  const each = `SELECT part.*, given.turn::int AS "${TURN}"
    FROM unnest(${arrays}) WITH ORDINALITY given (${Object.keys(key).join(', ')}, turn)
    CROSS JOIN LATERAL (${select(references((column) => `given.${column}`))} OFFSET 0) part`;
  const name = nameOf(text);
  const many = { name: nameOf(each), text: each };
  readsByKey.push({ ...many, values: arraysOfNothing(columns.length) });
  return (values) => ({ name, text, values: columns.map(([column]) => values[column]), many });
}

interface Group {
  readonly first: Sql;
  readonly values: unknown[][];
  readonly targets: Set<string>;
}

/**
 * Merges rows of the same batch statement into fewer statements. Writes to one table keep their
 * order, and a statement without `batch` keeps its position relative to all others.
 */
export function mergeBatches(statements: readonly Sql[]): Sql[] {
  const merged: (Sql | Group)[] = [];
  // The last group of each table. A row that cannot join it starts a new group, to keep the order.
  let open = new Map<string, Group>();
  for (const statement of statements) {
    const { name, batch } = statement;
    if (!batch) {
      merged.push(statement);
      open = new Map();
      continue;
    }
    const last = open.get(batch.table);
    const joins =
      last?.first.name === name && (batch.target === undefined || !last.targets.has(batch.target));
    const group = joins ? last : { first: statement, values: [], targets: new Set<string>() };
    if (!joins) {
      merged.push(group);
      open.set(batch.table, group);
    }
    for (const [column, [value]] of (statement.values as unknown[][]).entries()) {
      group.values[column] ??= [];
      group.values[column].push(value);
    }
    if (batch.target !== undefined) group.targets.add(batch.target);
  }
  return merged.map((one) =>
    'first' in one ? { name: one.first.name, text: one.first.text, values: one.values } : one,
  );
}
