import type pg from 'pg';
import { completeLoad, findsOf, flattenReads } from '../../platform/eventstore/load.ts';
import type { Plan } from '../../platform/eventstore/plan.ts';
import { toQuery } from '../../platform/postgres/pipeline.ts';
import { blocksOf } from './blocks.ts';

export type Reads = Pick<Plan<unknown, string>, 'find' | 'load'>;

/** Runs the reads of a command; counts the rows that they return, and the blocks that they touch. */
export async function readsOf(client: pg.Client, { find, load }: Reads, mode: string) {
  const rowsOf = async (read: Parameters<typeof toQuery>[0]) =>
    (await client.query(toQuery(read))).rows;
  const finds = findsOf(load ?? null);
  const found = await Promise.all(finds.map(rowsOf));
  const reads = [
    ...[find ?? []].flat(2),
    ...finds,
    ...flattenReads(completeLoad(load ?? null, found)),
  ];
  let [blocks, rows] = [0, 0];
  for (const read of reads) {
    const cost = await blocksOf(client, read, mode);
    blocks += cost.blocks;
    rows += cost.rows;
  }
  return { blocks, rows };
}
