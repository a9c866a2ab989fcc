import { useId, useState } from 'preact/hooks';
import { decideAll } from '../decide/batches.ts';
import { type Filters, NO_FILTERS, onPlainClick, viewAddress } from '../queue/address.ts';
import { showView } from '../queue/navigation.ts';
import { loadList } from '../queue/queue.ts';
import { refreshItem } from '../queue/read-item.ts';
import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import type { NoteItem } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { foldText, formatTime } from '../words/format.ts';

type Fold = NonNullable<NoteItem['fold']>;

const DAYS = [1, 7, 30, 90];

/** The notes that a row of the queue represents, or how to fold notes like this one. */
export function FoldSection({ note }: { note: NoteItem }) {
  const { me } = connectionState();
  const decides = me?.role === 'moderator' || me?.role === 'lead';
  if (note.fold) return <Folded note={note} fold={note.fold} decides={decides} />;
  const foldable = decides && note.author.kind === 'guest' && note.state === 'pending';
  return foldable ? <FoldForm note={note} /> : null;
}

interface FoldedProps {
  note: NoteItem;
  fold: Fold;
  decides: boolean;
}

function Folded({ note, fold, decides }: FoldedProps) {
  const others = filtersOf(fold);
  const unfold = () => change('DELETE', `${fold.kind}/${fold.note_id}`, note.id, 'Unfolded.');
  return (
    <section class="box folded-notes" aria-labelledby="folded">
      <h3 id="folded">{foldText(fold)}</h3>
      <p>
        Folded into this row by <bdi>{fold.moderator.name}</bdi> until {formatTime(fold.ends_at)}.
      </p>
      <div class="row-buttons">
        <a
          class="button"
          href={viewAddress('todo', others)}
          onClick={onPlainClick(() => showView('todo', others))}
        >
          Read them all
        </a>
        {decides && (
          <>
            <button
              type="button"
              class="button"
              onClick={() => void decideAll('approve', keyOf(fold))}
            >
              Approve all…
            </button>
            <button
              type="button"
              class="button danger"
              onClick={() => void decideAll('reject', keyOf(fold))}
            >
              Reject all…
            </button>
            <button type="button" class="button quiet" onClick={() => void unfold()}>
              Unfold
            </button>
          </>
        )}
      </div>
    </section>
  );
}

/** The filter that lists the notes of a fold. */
const keyOf = ({ kind, note_id }: Pick<Fold, 'kind' | 'note_id'>): Record<string, string> =>
  kind === 'text' ? { like: note_id } : { same_address_as: note_id };

const filtersOf = (fold: Fold): Filters => ({ ...NO_FILTERS, ...keyOf(fold) });

function FoldForm({ note }: { note: NoteItem }) {
  const id = useId();
  const [days, setDays] = useState(7);
  const fold = (kind: Fold['kind']) =>
    change('PUT', `${kind}/${note.id}`, note.id, 'Folded. No guest learns of it.', { days });
  return (
    <details class="fold-form">
      <summary>Fold notes like this</summary>
      <p class="hint">
        Waiting notes of guests with this text share one row of the queue, which you still read.
        Those from one address do for as long as its key is kept, at most 48 hours.
      </p>
      <div class="row-buttons">
        <label for={id}>For</label>
        <select
          id={id}
          class="input"
          value={days}
          onChange={(event) => setDays(Number(event.currentTarget.value))}
        >
          {DAYS.map((count) => (
            <option key={count} value={count}>
              {count === 1 ? '1 day' : `${count} days`}
            </option>
          ))}
        </select>
        <button type="button" class="button" onClick={() => void fold('text')}>
          Fold this text
        </button>
        <button type="button" class="button" onClick={() => void fold('address')}>
          Fold this address
        </button>
      </div>
    </details>
  );
}

async function change(
  method: 'PUT' | 'DELETE',
  place: string,
  noteId: string,
  done: string,
  body?: object,
): Promise<void> {
  try {
    await call(method, `folds/${place}`, body);
  } catch (error) {
    showToast(failureText(toFailure(error)), { tone: 'alert' });
    return;
  }
  showToast(done);
  await loadList();
  await refreshItem(noteId);
}
