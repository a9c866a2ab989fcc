import type { Sql } from '../sql.ts';

/** What a command reads: statements, by name or in a list; null skips an optional read. */
export type Load = Sql | null | DependentLoad | readonly Load[] | { readonly [name: string]: Load };

/**
 * Reads that need what `find` returns, such as the streams of a record whose owner a read model
 * knows. The store runs `find` before the transaction begins, so it must select what never changes,
 * or what the rows under the locks are checked against.
 */
export interface DependentLoad<Of extends Load = Load> {
  readonly find: Sql;
  readonly load: (found: never) => Of;
}

/** Defines reads that need the rows of `find`. */
export function loadAfter<Row, const Of extends Load>(
  find: Sql<Row>,
  load: (found: readonly Row[]) => Of,
): DependentLoad<Of> {
  return { find, load };
}

/**
 * The result rows in the shape of the load. Null reads yield no rows; for an unspecified `Load` the
 * type is `unknown`.
 */
export type Rows<Of extends Load> = Load extends Of
  ? unknown
  : [Of] extends [Sql<infer Row> | null]
    ? readonly Row[]
    : [Of] extends [DependentLoad<infer Then> | null]
      ? Rows<Then>
      : { readonly [Name in keyof Of]: Of[Name] extends Load ? Rows<Of[Name]> : never };

/** The statements that must run before the load is complete. */
export function findsOf(load: Load): Sql[] {
  if (load === null || isSql(load)) return [];
  return isDependent(load) ? [load.find] : Object.values(load).flatMap(findsOf);
}

/** Replaces each dependent load by its reads, given the rows of the statements of `findsOf`. */
export function completeLoad(load: Load, found: readonly (readonly unknown[])[]): Load {
  const rest = found.values();
  const complete = (part: Load): Load => {
    if (part === null || isSql(part)) return part;
    if (isDependent(part)) return part.load((rest.next().value ?? []) as never);
    if (Array.isArray(part)) return part.map(complete);
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, complete(one)]));
  };
  return complete(load);
}

/** Lists the statements of a complete load in order, without the null reads. */
export function flattenReads(load: Load): Sql[] {
  if (load === null) return [];
  if (isSql(load)) return [load];
  if (isDependent(load)) throw new Error('a dependent load was not completed');
  return Object.values(load).flatMap(flattenReads);
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

function isDependent(load: Exclude<Load, null | Sql>): load is DependentLoad {
  return 'load' in load && typeof load.load === 'function';
}
