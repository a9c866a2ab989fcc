import type { NoteItem } from './api-model.ts';
import { formatCount } from './format.ts';

/** At so many notes, a fold stops counting. */
const MAX_COUNTED = 250;

type Fold = NonNullable<NoteItem['fold']>;

/** What a row represents, such as '12 notes like this'. */
export function foldText({ kind, notes }: Fold): string {
  const count = notes >= MAX_COUNTED ? `${formatCount(notes)} or more` : formatCount(notes);
  const noun = notes === 1 ? 'note' : 'notes';
  return kind === 'text' ? `${count} ${noun} like this` : `${count} ${noun} from one address`;
}
