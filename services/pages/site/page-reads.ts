import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Reader } from '../../../platform/http/reader.ts';
import { Uuid } from '../../../platform/http/schemas.ts';
import { query } from '../../../platform/postgres/query.ts';
import { publicNames } from '../../../projections/membership/members.ts';
import type { ProvableRecord } from '../../publications/publication-kind.ts';
import { recordLeaf } from '../../seal/tree-store.ts';
import type { Body, Operations, People, SealedPlace } from '../view.ts';

/** Runs a read operation as an anonymous caller, and returns its body. */
export const readBody = <Id extends keyof Operations & string>(
  reader: Reader,
  id: Id,
  input: Parameters<Reader['read']>[1] = {},
): Promise<Body<Operations, Id>> => reader.read(id, input) as Promise<Body<Operations, Id>>;

/** Fails as for a record that does not exist. */
export function missing(): never {
  throw new Problem('not_found');
}

/** The id in an address. Fails as for a record that does not exist if it is no id. */
export function recordId(given: string): string {
  return Uuid.safeParse(given).data ?? missing();
}

/**
 * Finds the public names of members. A handle is public with its profile alone, so any other member
 * is named by the beginning of the id.
 */
export async function findPeople(
  pool: pg.Pool,
  ids: readonly (string | null | undefined)[],
): Promise<People> {
  const given = [...new Set(ids.filter((id) => typeof id === 'string'))];
  if (given.length === 0) return {};
  const rows = await query(pool, publicNames(given));
  const known = new Map(rows.map((row) => [row.member_id, row]));
  return Object.fromEntries(
    given.map((id) => {
      const row = known.get(id);
      if (!row?.handle) return [id, { name: 'former member' }];
      return [
        id,
        row.listed
          ? { name: row.handle, href: `/members/${row.handle}` }
          : { name: `member ${id.slice(0, 8)}` },
      ];
    }),
  );
}

/** Finds where the present text of a public record is in the sealed log; undefined before it is sealed. */
export type FindSealedPlace = (
  type: string,
  id: string,
  ownerId: string,
) => Promise<SealedPlace | undefined>;

export const sealedPlaces =
  (pool: pg.Pool, records: readonly ProvableRecord[]): FindSealedPlace =>
  async (type, id, ownerId) => {
    const record = records.find((kind) => kind.type === type);
    if (!record) throw new Error(`there is no proof of a ${type}`);
    const [found] = await query(pool, recordLeaf(ownerId, record.stream(id)));
    return found && found.leaf !== null
      ? { leaf: found.leaf, proof: `/log/proofs/${type}/${id}` }
      : undefined;
  };
