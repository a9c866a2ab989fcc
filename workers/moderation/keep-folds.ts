import { query } from '../../platform/postgres/query.ts';
import {
  FOLD_BATCH,
  foldsToCompare,
  joinFolds,
  notesOfEndedFolds,
  notesToCompare,
  saveCompared,
} from '../../projections/screening/fold-marks.ts';
import type { Core } from '../../services/compose.ts';

/**
 * Takes the marks of folds that are over from waiting notes, and marks the notes that a fold has and no request or
 * screening has marked; returns how many. Works in batches, each in its own transaction: after an end, the next run
 * continues with the next batch.
 */
export async function keepFolds({ pool }: Pick<Core, 'pool'>): Promise<number> {
  let changed = 0;
  const join = async (ids: readonly string[]) => {
    const joined = ids.length === 0 ? [] : await query(pool, joinFolds(ids));
    changed += joined.length;
    return joined.length;
  };
  const next = async () => (await query(pool, notesOfEndedFolds())).map(({ note_id }) => note_id);
  // A batch of which nothing changes belongs to a fold that goes on again.
  while ((await join(await next())) > 0);
  for (const { fold_id, ...start } of await query(pool, foldsToCompare()))
    for (let place = start; ; ) {
      const notes = await query(pool, notesToCompare(place));
      const last = notes.at(-1);
      if (!last) break;
      await join(notes.map(({ compared_id }) => compared_id));
      await query(pool, saveCompared(fold_id, last));
      if (notes.length < FOLD_BATCH) break;
      place = last;
    }
  return changed;
}
