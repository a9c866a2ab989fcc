import { Dialog } from '../../shared/dialog.tsx';
import { focusOn } from '../queue/queue.ts';
import { placeState } from '../queue/queue-state.ts';
import { settingsState } from '../session/settings.ts';
import { type Item, isNote } from '../words/api-model.ts';
import { plural, toSentenceCase } from '../words/format.ts';
import { ACTION_NAMES, authorName } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';
import { type Batch, closeBatch, runBatch } from './batches.ts';
import { activePolicies, NoPolicy } from './policy-list.tsx';

/** The preview of a batch, which runs only after confirmation. */
export function BatchPreview({ batch: { action, items, leftOut, sending } }: { batch: Batch }) {
  const withPolicy = action === 'reject' || action === 'remove';
  const policies = activePolicies();
  const close = () => {
    closeBatch();
    focusOn(placeState().focusId);
  };
  return (
    <Dialog title={`${ACTION_NAMES[action]} ${plural(items.length, 'note')}?`} onClose={close}>
      <div class="batch">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll */}
        <ul class="chosen" tabIndex={0} aria-label="Notes to decide on">
          {items.map((item) => (
            <li key={item.id}>
              <MarkedText text={authorName(item)} class="author" />
              <MarkedText text={item.text} class="chosen-text" />
              <Findings item={item} />
            </li>
          ))}
        </ul>
        {leftOut !== null && (
          <p class="box look">Left out, as not allowed or over the limit of 100: {leftOut}.</p>
        )}
        {withPolicy ? (
          <fieldset class="policies" disabled={sending}>
            <legend>Under which policy?</legend>
            {policies.map(({ code, title }, index) => (
              <button
                key={code}
                type="button"
                class="button danger"
                onClick={() => void runBatch(code)}
              >
                {index < 9 && settingsState().keys && <kbd>{index + 1}</kbd>} {title}
              </button>
            ))}
            {policies.length === 0 && <NoPolicy />}
          </fieldset>
        ) : (
          <div class="row-buttons">
            <button
              type="button"
              class="button primary"
              // biome-ignore lint/a11y/noAutofocus: the moderator has just opened this dialog
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

function Findings({ item }: { item: Item }) {
  const findings = isNote(item) ? item.screening.findings : [];
  if (findings.length === 0) return null;
  return (
    <span class="tags">
      {findings.map(({ code, text }) => (
        <span key={code} class="tag look">
          <MarkedText text={toSentenceCase(text)} />
        </span>
      ))}
    </span>
  );
}
