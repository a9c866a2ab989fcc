import type { Action, Item } from './api-model.ts';
import { claimWithToast } from './claims.ts';
import { ACTION_NAMES } from './labels.ts';
import { findLease, release } from './leases.ts';
import { whyNotAllowed } from './not-allowed.ts';
import { DecisionPanel } from './panel.tsx';
import { refreshItem } from './refresh.ts';
import { firstAllowed, PUBLISHING_ACTIONS, REMOVING_ACTIONS, startAction } from './start-action.ts';
import { hasDraft, setMark, store } from './state.ts';
import { useStore } from './store.ts';
import { startUndo, toUndoable, undoesCurrentItem } from './undo.ts';

const DANGEROUS_ACTIONS: readonly Action[] = ['reject', 'remove', 'uphold'];

/** The actions that this moderator can take on an item, with their keys. */
export function Actions({ item }: { item: Item }) {
  const { me, panel, keys, leases, marks, view, toast } = useStore(store);
  const publishing = firstAllowed(item, PUBLISHING_ACTIONS);
  const removing = firstAllowed(item, REMOVING_ACTIONS);
  const shortcutFor = (action: Action): string | undefined => {
    if (action === publishing) return 'a';
    if (action === removing) return 'r';
    return action === 'escalate' ? 'e' : action === 'defer' ? 'd' : undefined;
  };
  const claimed = findLease(item.id) !== undefined;
  const lost = leases.get(item.id)?.lost ?? false;
  const claimedByOther = item.claim !== null && !item.claim.mine;
  const canClaim =
    me?.role !== 'auditor' &&
    !claimed &&
    !lost &&
    !claimedByOther &&
    item.allowed_actions.length > 0;
  const undoable = toUndoable(item);
  const isDeferral = item.decision?.decision === 'deferred';
  // In other views, or while a toast offers an undo, the key undoes another decision.
  const undoKey = keys && undoesCurrentItem(view) && !toast?.undo ? 'u' : undefined;
  const mark = marks.get(item.id);
  const sending = mark?.kind === 'deciding';
  return (
    <div class="actions">
      {panel?.itemId === item.id ? (
        <DecisionPanel panel={panel} key={item.id + panel.action} />
      ) : (
        mark?.kind === 'conflict' && <Conflict itemId={item.id} text={mark.text} />
      )}
      <fieldset class="bar" disabled={sending}>
        <legend class="visually-hidden">Decide</legend>
        {item.allowed_actions.map((action) => {
          const key = shortcutFor(action);
          const tone =
            action === publishing ? 'primary' : DANGEROUS_ACTIONS.includes(action) ? 'danger' : '';
          return (
            <button
              key={action}
              type="button"
              class={`button ${tone}`}
              aria-keyshortcuts={keys ? key : undefined}
              aria-expanded={panel?.itemId === item.id ? panel.action === action : undefined}
              onClick={() => startAction([action])}
            >
              {ACTION_NAMES[action]} {keys && key && <kbd>{key}</kbd>}
            </button>
          );
        })}
        {undoable && (
          <button
            type="button"
            class="button"
            aria-keyshortcuts={undoKey}
            onClick={() => startUndo(undoable)}
          >
            {isDeferral ? 'Bring back' : 'Undo'} {undoKey && <kbd>{undoKey}</kbd>}
          </button>
        )}
        {canClaim && (
          <button type="button" class="button quiet" onClick={() => void claimWithToast(item.id)}>
            Claim
          </button>
        )}
        {lost && (
          <button type="button" class="button quiet" onClick={() => void claimWithToast(item.id)}>
            Claim again
          </button>
        )}
        {claimed && (
          <button
            type="button"
            class="button quiet"
            aria-keyshortcuts={keys ? 'Escape' : undefined}
            onClick={() => void release(item.id)}
          >
            Release {keys && <kbd>Esc</kbd>}
          </button>
        )}
        {item.allowed_actions.length === 0 && !undoable && (
          <span class="hint">{whyNotAllowed(item, [], me)}</span>
        )}
      </fieldset>
    </div>
  );
}

/** Why the last decision on the item was refused. Covers the end of the note, and moves nothing. */
function Conflict({ itemId, text }: { itemId: string; text: string }) {
  return (
    <p class="box bad conflict">
      <span>
        {text} {hasDraft(itemId) && 'Your text is kept. '}
        <button
          type="button"
          class="button quiet"
          onClick={() => {
            setMark(itemId, undefined);
            void refreshItem(itemId);
          }}
        >
          Reload
        </button>
      </span>
    </p>
  );
}
