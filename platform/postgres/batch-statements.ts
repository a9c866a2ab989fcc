import { type Sql, statementName } from '../sql.ts';
import { prepareValue } from './pipeline.ts';

/**
 * The columns of a statement's rows, each with its PostgreSQL type. `text::json` is a column of JSON
 * whose values are given as JSON text.
 */
type Columns = Readonly<Record<string, string>>;
type Row<Of extends Columns> = { readonly [Name in keyof Of]: unknown };

const isArray = (type: string) => type.endsWith('[]');
/** `unnest` flattens arrays, so a value that is an array itself is sent as text and cast. */
const sentAs = (type: string) => (isArray(type) ? 'text' : (type.split('::')[0] ?? type));
const castTo = (type: string) => (isArray(type) ? type : type.split('::')[1]);
const isJson = (type: string) => type === 'json' || type === 'jsonb';

/** Converts a value for its column; JSON columns take any value and are sent as JSON text. */
function encode(type: string, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (isJson(type)) return JSON.stringify(value);
  return isArray(type) ? prepareValue(value) : value;
}

/** `unnest($1::uuid[], $2::text[]) AS given (a, b)`: rows as one array parameter per column. */
function givenRows(columns: Columns): string {
  const arrays = Object.values(columns).map((type, at) => `$${at + 1}::${sentAs(type)}[]`);
  return `unnest(${arrays.join(', ')}) AS given (${Object.keys(columns).join(', ')})`;
}

/** The columns that identify a row of each table, for all statements that name them. */
const keys = new Map<string, string>();

function checkKey(table: string, key: readonly string[]): void {
  const text = key.join();
  const known = keys.get(table) ?? text;
  if (text !== known)
    throw new Error(`rows of ${table} are identified by ${known}, not by ${text}`);
  keys.set(table, text);
}

/**
 * Defines a write of one row that `mergeBatches` can combine with others. `text` builds the SQL
 * around `given`, the rows, and must use no table but `table`. `key` names the columns that identify
 * the row that is written, the same for every statement on the table. It is required if the
 * statement changes an existing row, and lets rows of other keys be written out of order; do not
 * name it for a table with a further unique index, which such an order could violate.
 */
export function defineBatch<const Of extends Columns>(
  table: string,
  columns: Of,
  text: (given: string) => string,
  key: readonly (keyof Of & string)[] = [],
): (row: Row<Of>) => Sql {
  if (key.length > 0) checkKey(table, key);
  const types = Object.entries(columns);
  const whole = text(givenRows(columns));
  const name = statementName(whole);
  return (row) => {
    const identity = key.map((column) => row[column]);
    return {
      name,
      text: whole,
      values: types.map(([column, type]) => [encode(type, row[column])]),
      batch: identity.length > 0 ? { table, key: JSON.stringify(identity) } : { table },
    };
  };
}

/**
 * Defines an INSERT into these columns. `key` is that of `defineBatch`; `conflict` is what an upsert
 * does if the key exists.
 */
export function defineInsert<const Of extends Columns>(
  table: string,
  columns: Of,
  { key = [], conflict }: { key?: readonly (keyof Of & string)[]; conflict?: string } = {},
): (row: Row<Of>) => Sql {
  const selected = Object.entries(columns).map(([column, type]) =>
    castTo(type) ? `${column}::${castTo(type)}` : column,
  );
  const otherwise = conflict ? ` ON CONFLICT (${key.join(', ')}) ${conflict}` : '';
  return defineBatch(
    table,
    columns,
    (given) => `INSERT INTO ${table} (${Object.keys(columns).join(', ')})
      SELECT ${selected.join(', ')} FROM ${given}${otherwise}`,
    key,
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
  const name = statementName(text);
  const many = { name: statementName(each), text: each };
  readsByKey.push({ ...many, values: arraysOfNothing(columns.length) });
  return (values) => ({ name, text, values: columns.map(([column]) => values[column]), many });
}

/** Merges reads of one `defineRead` into one statement, whose rows name their read by `TURN`. One read stays as it is. */
export function mergeReads<Row>(reads: readonly Sql<Row>[]): Sql<Row> {
  const [first] = reads as [Sql<Row>];
  if (reads.length === 1 || !first.many) return first;
  return {
    ...first.many,
    ...(first.convert ? { convert: first.convert } : {}),
    values: first.values.map((_, at) => reads.map((read) => read.values[at])),
  };
}

interface Group {
  readonly first: Sql;
  readonly values: unknown[][];
  readonly keys: Set<string>;
}

/**
 * Merges rows of the same batch statement into fewer statements. Writes to one row keep their order,
 * as do writes to one table whose rows have no key. A statement without `batch` keeps its position
 * relative to all others.
 */
export function mergeBatches(statements: readonly Sql[]): Sql[] {
  const merged: (Sql | Group)[] = [];
  // The groups of each table since the last statement without `batch`, newest first.
  let open = new Map<string, Group[]>();
  for (const statement of statements) {
    const { batch } = statement;
    if (!batch) {
      merged.push(statement);
      open = new Map();
      continue;
    }
    const groups = open.get(batch.table) ?? [];
    let group = groupToJoin(groups, statement);
    if (!group) {
      group = { first: statement, values: [], keys: new Set() };
      merged.push(group);
      open.set(batch.table, [group, ...groups]);
    }
    for (const [column, [value]] of (statement.values as unknown[][]).entries()) {
      group.values[column] ??= [];
      group.values[column].push(value);
    }
    if (batch.key !== undefined) group.keys.add(batch.key);
  }
  return merged.map((one) =>
    'first' in one ? { name: one.first.name, text: one.first.text, values: one.values } : one,
  );
}

/** The newest group of the same statement, unless a write to the same row would be overtaken. */
function groupToJoin(groups: readonly Group[], { name, batch }: Sql): Group | undefined {
  const key = batch?.key;
  for (const group of groups) {
    const writesRow = key !== undefined && group.keys.has(key);
    if (group.first.name === name && !writesRow) return group;
    if (writesRow || key === undefined || group.keys.size === 0) return undefined;
  }
  return undefined;
}
