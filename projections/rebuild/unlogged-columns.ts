import { named, type Sql } from '../../platform/sql.ts';
import { HAS_MARK } from '../screening/fold-marks.ts';

/** Columns of read models that no event has: they are not compared with the log, and a rebuild copies them. */
export const UNLOGGED_COLUMNS: Readonly<Record<string, readonly string[]>> = { notes: ['fold_id'] };

/** Copies them to the tables of a rebuild, under the locks of the swap. */
export const copyUnlogged = (): Sql[] => [
  named(`UPDATE rebuild.notes made SET fold_id = n.fold_id FROM public.notes n
    WHERE ${HAS_MARK} AND made.note_id = n.note_id`),
];
