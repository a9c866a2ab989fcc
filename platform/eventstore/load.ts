import type { Sql } from '../sql.ts';

/** What a command reads: statements, by name or in a list; null skips an optional read. */
export type Load = Sql | null | readonly Load[] | { readonly [name: string]: Load };

/**
 * The result rows in the shape of the load. Null reads yield no rows; for an unspecified `Load` the
 * type is `unknown`.
 */
export type Rows<Of extends Load> = Load extends Of
  ? unknown
  : [Of] extends [Sql<infer Row> | null]
    ? readonly Row[]
    : { readonly [Name in keyof Of]: Of[Name] extends Load ? Rows<Of[Name]> : never };

/** Lists the statements of a load in order, without the null reads. */
export function flattenReads(load: Load): Sql[] {
  if (load === null) return [];
  return isSql(load) ? [load] : Object.values(load).flatMap(flattenReads);
}

/** Arranges the rows of the statements that `flattenReads` lists in the shape of the load. */
export function shapeRows(load: Load, rows: readonly (readonly unknown[])[]): unknown {
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
