import { Dialog } from '../shared/dialog.tsx';
import { runBatch } from './batches.ts';
import { MarkedText } from './marked-text.tsx';
import { NoPolicy } from './no-policy.tsx';
import { activePolicies } from './policy-list.ts';
import { focusOn } from './queue.ts';
import { type Batch, get, set } from './state.ts';
import { ACTION_NAMES, authorName, firstOf, plural } from './words.ts';

const SHOWN = 5;
const EXCERPT = 200;

/** What a batch would do, before it does it. */
export function BatchPreview({ batch: { action, items, sending } }: { batch: Batch }) {
  const withPolicy = action === 'reject' || action === 'remove';
  const policies = activePolicies();
  const close = () => {
    set({ batch: null });
    focusOn(get().focusId);
  };
  const rest = items.length - SHOWN;
  const left = get().selected.size - items.length;
  return (
    <Dialog title={`${ACTION_NAMES[action]} ${plural(items.length, 'note')}?`} onClose={close}>
      <div class="batch">
        <ul class="firsts">
          {items.slice(0, SHOWN).map((item) => (
            <li key={item.id}>
              <MarkedText text={authorName(item)} class="author" />
              <MarkedText text={firstOf(item.text, EXCERPT)} class="first-text" />
            </li>
          ))}
        </ul>
        {rest > 0 && <p class="hint">and {plural(rest, 'more note', 'more notes')}</p>}
        {left > 0 && (
          <p class="box look">
            {plural(left, 'selected note')} will be left out: this is not possible there, or a
            hundred is the most at once.
          </p>
        )}
        {withPolicy ? (
          <fieldset class="policies" disabled={sending}>
            <legend>By which policy?</legend>
            {policies.map(({ code, title }, index) => (
              <button
                key={code}
                type="button"
                class="button danger"
                // biome-ignore lint/a11y/noAutofocus: the dialog has just been asked for
                autoFocus={index === 0}
                onClick={() => void runBatch(code)}
              >
                {index < 9 && get().keys && <kbd>{index + 1}</kbd>} {title}
              </button>
            ))}
            {policies.length === 0 && <NoPolicy />}
          </fieldset>
        ) : (
          <div class="row-buttons">
            <button
              type="button"
              class="button primary"
              // biome-ignore lint/a11y/noAutofocus: the dialog has just been asked for
              autoFocus
              aria-disabled={sending ? 'true' : undefined}
              onClick={() => void runBatch()}
            >
              {ACTION_NAMES[action]} {plural(items.length, 'note')} <kbd>Enter</kbd>
            </button>
          </div>
        )}
      </div>
    </Dialog>
  );
}
