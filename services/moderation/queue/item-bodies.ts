import type { PrincipalOf } from '../../../platform/http/principal.ts';
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
  const of = Map.groupBy(near, (row) => row.of);
  const undoSeconds = config.undoWindowSeconds;
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

export async function notesBodies(
  deps: Deps,
  me: PrincipalOf<'moderator'>,
  noteIds: readonly string[],
): Promise<Item[]> {
  return itemBodies(deps, me, await deps.reads.query(itemsById(noteIds)));
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
