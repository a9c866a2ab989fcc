import type { Sql } from '../sql.ts';

/** What a command reads: statements, by name or in a list; null for one that it can do without. */
export type Load = Sql | null | readonly Load[] | { readonly [name: string]: Load };

/** The rows of each of them, in the same shape; none of null. Of no load in particular: unknown. */
export type Rows<Of extends Load> = Load extends Of
  ? unknown
  : [Of] extends [Sql<infer Row> | null]
    ? readonly Row[]
    : { readonly [Name in keyof Of]: Of[Name] extends Load ? Rows<Of[Name]> : never };

/** All statements of a load, in its order. */
export function readsOf(load: Load): Sql[] {
  if (load === null) return [];
  return isSql(load) ? [load] : Object.values(load).flatMap(readsOf);
}

/** The rows of its statements, given in their order, in its shape. */
export function rowsOf(load: Load, rows: readonly (readonly unknown[])[]): unknown {
  const rest = rows.values();
  const shape = (part: Load): unknown => {
    if (part === null) return [];
    if (isSql(part)) return rest.next().value ?? [];
    if (Array.isArray(part)) return part.map(shape);
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, shape(one)]));
  };
  return shape(load);
}

function isSql(load: Exclude<Load, null>): load is Sql {
  return 'text' in load && typeof load.text === 'string';
}
