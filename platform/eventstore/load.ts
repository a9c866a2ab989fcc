import type { RowLocks, Sql } from '../sql.ts';

/** What a command reads: statements, by name or in a list; null skips an optional read. */
export type Load =
  | Sql
  | null
  | DependentLoad
  | DerivedLoad
  | readonly Load[]
  | { readonly [name: string]: Load };

/** A member that was found by another key; a guest has no member id. */
export interface FoundMember {
  member_id: string | null;
}

export type MemberRead = Sql<FoundMember>;

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

/** A value that is computed from rows, such as the state of a stream from its events. */
export interface DerivedLoad<Value = unknown> {
  readonly reads: Load;
  readonly derive: (rows: never) => Value;
  /** Finds members whose feeds the value's events may enter, to be locked: see `Command.find`. */
  readonly members: MemberRead | null;
}

/** Defines a value that is computed from the rows of `reads`. */
export function derive<const Of extends Load, Value>(
  reads: Of,
  derive: (rows: Rows<Of>) => Value,
  members: MemberRead | null = null,
): DerivedLoad<Value> {
  return { reads, derive, members };
}

/** A value that is loaded only where it is needed; null elsewhere. */
export const optional = <Value>(load: DerivedLoad<Value> | null): DerivedLoad<Value | null> =>
  load ?? derive(null, () => null);

/**
 * The result rows in the shape of the load. Null reads yield no rows; for an unspecified `Load` the
 * type is `unknown`.
 */
export type Rows<Of extends Load> = Load extends Of
  ? unknown
  : [Of] extends [Sql<infer Row> | null]
    ? readonly Row[]
    : [Of] extends [DerivedLoad<infer Value>]
      ? Value
      : [Of] extends [DependentLoad<infer Then> | null]
        ? Rows<Then>
        : { readonly [Name in keyof Of]: Of[Name] extends Load ? Rows<Of[Name]> : never };

/** The statements that must run before the load is complete. */
export function findsOf(load: Load): Sql[] {
  if (load === null || isSql(load)) return [];
  if (isDerived(load)) return findsOf(load.reads);
  return isDependent(load) ? [load.find] : Object.values(load).flatMap(findsOf);
}

/** The statements that find members to lock for the derived values of a load. */
export function memberReadsOf(load: Load): MemberRead[] {
  if (load === null || isSql(load) || isDependent(load)) return [];
  if (isDerived(load)) return load.members ? [load.members] : [];
  return Object.values(load).flatMap(memberReadsOf);
}

/** What the reads lock, besides those that depend on what is found. */
export function locksOf(load: Load): (RowLocks | 'alone')[] {
  if (load === null) return [];
  if (isSql(load)) return load.locks ? [load.locks] : [];
  if (isDerived(load)) return locksOf(load.reads);
  if (isDependent(load)) return [];
  return Object.values(load).flatMap(locksOf);
}

/** Replaces each dependent load by its reads, given the rows of the statements of `findsOf`. */
export function completeLoad(load: Load, found: readonly (readonly unknown[])[]): Load {
  const rest = found.values();
  const complete = (part: Load): Load => {
    if (part === null || isSql(part)) return part;
    if (isDerived(part)) return { ...part, reads: complete(part.reads) };
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
  if (isDerived(load)) return flattenReads(load.reads);
  if (isDependent(load)) throw new Error('a dependent load was not completed');
  return Object.values(load).flatMap(flattenReads);
}

/** Arranges the rows of the statements that `flattenReads` lists in the shape of the load. */
export function shapeRows(load: Load, rows: readonly (readonly unknown[])[]): unknown {
  const rest = rows.values();
  const shape = (part: Load): unknown => {
    if (part === null) return [];
    if (isSql(part)) return rest.next().value ?? [];
    if (isDerived(part)) return part.derive(shape(part.reads) as never);
    if (Array.isArray(part)) return part.map(shape);
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, shape(one)]));
  };
  return shape(load);
}

function isSql(load: Exclude<Load, null>): load is Sql {
  return 'text' in load && typeof load.text === 'string';
}

function isDerived(load: Exclude<Load, null>): load is DerivedLoad {
  return 'derive' in load && typeof load.derive === 'function';
}

function isDependent(load: Exclude<Load, null | Sql>): load is DependentLoad {
  return 'load' in load && typeof load.load === 'function';
}
