import { ofGiven, type Sql } from './sql.ts';

type Row = Record<string, unknown>;

/** The reads of several commands as fewer statements, and what each read of each command found. */
export interface Gathered {
  statements: readonly Sql[];
  deal(results: readonly Row[][]): Row[][][];
}

/** Which of the reads a row is for, from 1. */
const TURN = '#';
const plain = new Map<string, boolean>();
const texts = new Map<string, string | undefined>();

/** A read that locks nothing, so that reads of several commands may go as one. */
export function isPlainRead({ name, text }: Sql): boolean {
  let known = plain.get(name);
  if (known === undefined) {
    known =
      /^\s*SELECT\b/i.test(text) && !/\bFOR\s+(UPDATE|NO|SHARE|KEY)\b|advisory|nextval/i.test(text);
    plain.set(name, known);
  }
  return known;
}

/** Those of one text go as one; the reads of a lone command in their order, since some may lock. */
export function gatherReads(lists: readonly (readonly Sql[])[]): Gathered {
  const all = lists.flatMap((list, index) => list.map((read, at) => ({ read, index, at })));
  const groups =
    lists.length === 1
      ? all.map((one) => [one])
      : [...Map.groupBy(all, ({ read }) => read.name).values()].flatMap((group) =>
          group[0] && textOfMany(group[0].read) ? [group] : group.map((one) => [one]),
        );
  return {
    statements: groups.map((group) => asOne(group.map(({ read }) => read))),
    deal(results) {
      const rows: Row[][][] = lists.map(() => []);
      for (const [turn, group] of groups.entries()) {
        const parts = split(results[turn] ?? [], group.length);
        for (const [part, { index, at }] of group.entries())
          (rows[index] as Row[][])[at] = parts[part] ?? [];
      }
      return rows;
    },
  };
}

function asOne(reads: readonly Sql[]): Sql {
  const [lead] = reads as [Sql];
  const text = textOfMany(lead);
  if (reads.length === 1 || !text) return lead;
  const values = lead.values.map((_, at) => reads.map((read) => read.values[at]));
  return { name: `${lead.name}-each`, text, values };
}

/**
 * The read for any number of values, which it takes as arrays. None, where it is no plain read, or
 * a value is not cast (`$1::uuid`): nothing else tells what an array of it is of. OFFSET 0 has each
 * looked up: joined to them, a table that was counted while it was empty is read from end to end.
 */
function textOfMany(read: Sql): string | undefined {
  const { name, text, values } = read;
  if (!texts.has(name)) {
    const types = values.map(
      (_, at) => new RegExp(`\\$${at + 1}::(\\w+)(?![\\w[])`).exec(text)?.[1],
    );
    const cast = isPlainRead(read) && types.length > 0 && !types.includes(undefined);
    const arrays = types.map((type, at) => `$${at + 1}::${type}[]`).join(', ');
    const given = ofGiven(text, types.length);
    const many = `SELECT part.*, given.turn::int AS "${TURN}"
      FROM unnest(${arrays}) WITH ORDINALITY given (${given.names}, turn)
      CROSS JOIN LATERAL (${given.text} OFFSET 0) part`;
    texts.set(name, cast ? many : undefined);
  }
  return texts.get(name);
}

function split(rows: Row[], count: number): Row[][] {
  if (count === 1) return [rows];
  const parts: Row[][] = Array.from({ length: count }, () => []);
  for (const row of rows) {
    parts[(row[TURN] as number) - 1]?.push(row);
    delete row[TURN];
  }
  return parts;
}
