import type { Sql } from './sql.ts';

/** A statement that stands for several of the same text, and how its rows fall to each of them. */
export interface Merged {
  statement: Sql;
  /** Which list each part is of. */
  lists: readonly number[];
  rowsOf(rows: Record<string, unknown>[]): unknown[][];
}

const MARK = '#';
/** Of a command's neighbours: a statement of more is dear to plan. */
const MOST = 16;
const texts = new Map<string, string>();
const reads = new Map<string, boolean>();

/** A read that locks nothing, so that reads of several commands may go as one. */
export function isPlainRead({ name, text }: Sql): boolean {
  let plain = reads.get(name);
  if (plain === undefined) {
    plain =
      /^\s*SELECT\b/i.test(text) && !/\bFOR\s+(UPDATE|NO|SHARE|KEY)\b|advisory|nextval/i.test(text);
    reads.set(name, plain);
  }
  return plain;
}

/**
 * The statements of several lists, in an order that keeps that of each list, and those of the same
 * text that meet as one: rows of one INSERT, or SELECTs of one UNION ALL.
 */
export function mergeLists(lists: readonly (readonly Sql[])[], most = MOST): Merged[] {
  const merged: Merged[] = [];
  const at = lists.map(() => 0);
  for (;;) {
    const first = lists.findIndex((list, index) => (at[index] ?? 0) < list.length);
    const lead = lists[first]?.[at[first] ?? 0];
    if (!lead) return merged;
    const same: [number, Sql][] = [];
    const rows = new Set<string>();
    for (const [index, list] of lists.entries())
      for (let next = list[at[index] ?? 0]; next?.name === lead.name; ) {
        const row = rowOf(next);
        // One statement must not write a row twice.
        if (row !== undefined && rows.size === rows.add(row).size) break;
        same.push([index, next]);
        next = list[++(at[index] as number)];
      }
    // Powers of two, so that few statements are prepared; and not many at once, which is dear to plan.
    while (same.length > 0)
      merged.push(
        ...merge(same.splice(0, Math.min(most, 2 ** Math.floor(Math.log2(same.length))))),
      );
  }
}

function merge(same: readonly [number, Sql][]): Merged[] {
  const lists = same.map(([index]) => index);
  const statements = same.map(([, statement]) => statement);
  const [lead] = statements;
  if (!lead) return [];
  const single = (statement: Sql, index: number): Merged => ({
    statement,
    lists: [lists[index] ?? 0],
    rowsOf: (rows) => [rows],
  });
  if (same.length === 1) return statements.map(single);
  const text = textOf(lead, same.length);
  if (!text) return statements.map(single);
  const values = statements.flatMap((statement) => statement.values);
  return [
    {
      statement: { name: `${lead.name}x${same.length}`, text, values },
      lists,
      rowsOf: (rows) => split(rows, same.length),
    },
  ];
}

/** The text for so many at once; empty where there is none. */
function textOf(statement: Sql, count: number): string {
  const key = `${statement.name}x${count}`;
  let text = texts.get(key);
  if (text === undefined) {
    text = manyText(statement, count);
    texts.set(key, text);
  }
  return text;
}

const INSERT =
  /^(\s*INSERT INTO\s+\w+(?:\s+AS\s+\w+)?\s*\(([^()]*)\)\s*VALUES\s*)(\(.*?\))(\s*ON CONFLICT\b[^$]*)?\s*$/is;
const keyed = new Map<string, readonly number[] | undefined>();

/** The row that a statement changes, or the values by which an upsert finds it. */
function rowOf(statement: Sql): string | undefined {
  const { name, values, many } = statement;
  if (many) return many.row;
  if (!keyed.has(name)) keyed.set(name, keyParameters(statement));
  const parameters = keyed.get(name);
  return parameters && JSON.stringify(parameters.map((number) => values[number - 1]));
}

function keyParameters({ text }: Sql): number[] | undefined {
  const [, , columns = '', row = '', upsert = ''] = INSERT.exec(text) ?? [];
  const names = /ON CONFLICT\s*\(([^()]*)\)\s*DO UPDATE\b/i.exec(upsert)?.[1]?.split(',');
  // Commas within parentheses part no values.
  const parts = row.slice(1, -1).split(/,(?![^(]*\))/);
  const of = (column: string) => columns.split(',').findIndex((one) => one.trim() === column);
  return names?.flatMap((column) =>
    [...(parts[of(column.trim())] ?? '').matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
  );
}

function manyText(statement: Sql, count: number): string {
  const { text, values } = statement;
  if (statement.many) return statement.many.text(count);
  const each = (part: string) =>
    Array.from({ length: count }, (_, turn) =>
      part.replace(/\$(\d+)/g, (_all, number) => `$${Number(number) + turn * values.length}`),
    );
  const [, into = '', , row = '', upsert = ''] = INSERT.exec(text) ?? [];
  if (row && !/\bRETURNING\b/i.test(text) && !/\bON CONFLICT\b/i.test(row))
    return `${into}${each(row).join(', ')}${upsert}`;
  if (!isPlainRead(statement)) return '';
  return each(text)
    .map((one, turn) => `(SELECT part.*, ${turn} AS "${MARK}" FROM (${one}) part)`)
    .join(' UNION ALL ');
}

function split(rows: Record<string, unknown>[], count: number): unknown[][] {
  const parts: unknown[][] = Array.from({ length: count }, () => []);
  for (const row of rows) {
    parts[row[MARK] as number]?.push(row);
    delete row[MARK];
  }
  return parts;
}
