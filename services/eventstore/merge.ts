import type { Sql } from './sql.ts';

/** Of a command's neighbours: a statement of more is dear to plan. */
const MOST = 16;
const FEW = 8;
const texts = new Map<string, string>();

/**
 * The writes of several lists, in an order that keeps that of each list; those of the same text that
 * meet go as one, as rows of one INSERT.
 */
export function mergeLists(lists: readonly (readonly Sql[])[], most = MOST): Sql[] {
  const merged: Sql[] = [];
  const at = lists.map(() => 0);
  for (;;) {
    const first = lists.findIndex((list, index) => (at[index] ?? 0) < list.length);
    const lead = lists[first]?.[at[first] ?? 0];
    if (!lead) return merged;
    const same: Sql[] = [];
    const rows = new Set<string>();
    for (const [index, list] of lists.entries())
      for (let next = list[at[index] ?? 0]; next?.name === lead.name; ) {
        const row = rowOf(next);
        // One statement must not write a row twice.
        if (row !== undefined && rows.size === rows.add(row).size) break;
        same.push(next);
        next = list[++(at[index] as number)];
      }
    while (same.length > 0) merged.push(...merge(same.splice(0, sizeOf(same.length, most))));
  }
}

/**
 * How many of so many go as one. Each size is a statement to prepare on each connection, of 40 KB: any
 * number of few, since a statement more costs as much as several rows, and powers of two above.
 */
function sizeOf(count: number, most: number): number {
  return count <= FEW ? count : Math.min(most, 2 ** Math.floor(Math.log2(count)));
}

function merge(same: readonly Sql[]): readonly Sql[] {
  const [lead] = same;
  const text = lead && same.length > 1 ? textOf(lead, same.length) : '';
  if (!lead || !text) return same;
  const values = same.flatMap((statement) => statement.values);
  return [{ name: `${lead.name}x${same.length}`, text, values }];
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
  return '';
}
