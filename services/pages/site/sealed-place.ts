import type pg from 'pg';
import { query } from '../../../platform/postgres/query.ts';
import type { ProvableRecord } from '../../publications/provable-record.ts';
import { recordLeaf } from '../../seal/tree-store.ts';
import type { SealedPlace } from './view.ts';

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
