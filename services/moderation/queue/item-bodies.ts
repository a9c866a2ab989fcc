import type pg from 'pg';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import { runTogether } from '../../../platform/postgres/query.ts';
import { shareReads } from '../../../platform/postgres/read-together.ts';
import type { Reads } from '../../../platform/postgres/reads.ts';
import { type LikeRow, nearTo } from '../../../projections/screening/screenings.ts';
import { MIN_SIMILARITY, similarity } from '../../screening/look-alikes.ts';
import type { Item } from './item.ts';
import { itemBody } from './item-body.ts';
import { foldBody } from './item-parts.ts';
import { type ItemRow, itemsById } from './item-rows.ts';
import { type FoldRow, liveFolds } from './live-folds.ts';

/** The most look-alikes shown with a note: as many as a person compares. */
const MAX_ALIKE = 5;

interface Deps {
  reads: Reads;
  config: { undoWindowSeconds: number };
}

/** What the bodies of notes are made from. */
interface NoteReads {
  rows: readonly ItemRow[];
  near: readonly LikeRow[];
  folds: readonly FoldRow[];
}

/** The bodies of these notes for a moderator; one statement finds all of their look-alikes. */
export async function itemBodies(
  { reads, config }: Deps,
  me: PrincipalOf<'moderator'>,
  rows: readonly ItemRow[],
  given?: readonly FoldRow[],
): Promise<Item[]> {
  const ids = rows.filter(({ message }) => message !== null).map(({ note_id }) => note_id);
  const near = ids.length === 0 ? [] : await reads.query(nearTo(ids));
  const folds = rows.length === 0 ? [] : (given ?? (await reads.query(liveFolds())));
  return toBodies({ rows, near, folds }, me, config);
}

/**
 * Creates a read of the bodies of some notes, by tier and age. In one round trip it reads everything that they are made
 * from, also for all calls at the same time.
 */
export function readNotesBodies(pool: pg.Pool, config: Deps['config']) {
  const readNotes = shareReads(async (lists: readonly (readonly string[])[]) => {
    const ids = [...new Set(lists.flat())];
    const [rows, near, folds] = await runTogether(pool, [itemsById(ids), nearTo(ids), liveFolds()]);
    return lists.map((list): NoteReads => {
      const isListed = new Set(list);
      return { rows: rows.filter(({ note_id }) => isListed.has(note_id)), near, folds };
    });
  });
  return async (me: PrincipalOf<'moderator'>, ids: readonly string[]): Promise<Item[]> =>
    ids.length === 0 ? [] : toBodies(await readNotes(ids), me, config);
}

function toBodies(
  { rows, near, folds }: NoteReads,
  me: PrincipalOf<'moderator'>,
  { undoWindowSeconds: undoSeconds }: Deps['config'],
): Item[] {
  const of = Map.groupBy(near, (row) => row.of);
  return rows.map((row) => ({
    ...itemBody(row, { me, undoSeconds }),
    fold: foldOf(row.note_id, folds),
    look_alikes: lookAlikes(row.message ?? '', of.get(row.note_id) ?? []),
  }));
}

function foldOf(noteId: string, folds: readonly FoldRow[]): Item['fold'] {
  const fold = folds.find(({ first_id }) => first_id === noteId);
  return fold ? foldBody(fold) : null;
}

function lookAlikes(message: string, near: readonly LikeRow[]): Item['look_alikes'] {
  return near
    .map((other) => ({
      id: other.note_id,
      state: other.state,
      text: other.message,
      similarity: Math.round(similarity(message, other.message) * 100) / 100,
    }))
    .filter((other) => other.similarity >= MIN_SIMILARITY)
    .sort((one, other) => other.similarity - one.similarity)
    .slice(0, MAX_ALIKE);
}
