import { begin, firstAllowed, NO, YES } from './begin.ts';
import { claimOpenly } from './claims.ts';
import { leaseOn, release } from './leases.ts';
import { DecisionPanel } from './panel.tsx';
import { store } from './state.ts';
import { useStore } from './store.ts';
import { undoableOf, undoesCurrent, undoThis } from './undo.ts';
import { whyNot } from './why-not.ts';
import type { Action, Item } from './wire.ts';
import { ACTION_NAMES } from './words.ts';

const DANGER: readonly Action[] = ['reject', 'remove', 'uphold'];

/** The actions that this moderator can take on an item, with their keys. */
export function Actions({ item }: { item: Item }) {
  const { me, panel, keys, leases, marks, view, toast } = useStore(store);
  const yes = firstAllowed(item, YES);
  const no = firstAllowed(item, NO);
  const keyOf = (action: Action): string | undefined => {
    if (action === yes) return 'a';
    if (action === no) return 'r';
    return action === 'escalate' ? 'e' : action === 'defer' ? 'd' : undefined;
  };
  const held = leaseOn(item.id) !== undefined;
  const lost = leases.get(item.id)?.lost ?? false;
  const others = item.claim !== null && !item.claim.mine;
  const mayClaim =
    me?.role !== 'auditor' && !held && !lost && !others && item.allowed_actions.length > 0;
  const undoable = undoableOf(item);
  const isDeferral = item.decision?.decision === 'deferred';
  // In other views, or while a toast offers an undo, the key undoes another decision.
  const undoKey = keys && undoesCurrent(view) && !toast?.undo ? 'u' : undefined;
  const sending = marks.get(item.id)?.kind === 'deciding';
  return (
    <div class="actions">
      {panel?.itemId === item.id && <DecisionPanel panel={panel} key={item.id + panel.action} />}
      <fieldset class="bar" disabled={sending}>
        <legend class="visually-hidden">Decide</legend>
        {item.allowed_actions.map((action) => {
          const key = keyOf(action);
          const tone = action === yes ? 'primary' : DANGER.includes(action) ? 'danger' : '';
          return (
            <button
              key={action}
              type="button"
              class={`button ${tone}`}
              aria-keyshortcuts={keys ? key : undefined}
              aria-expanded={panel?.itemId === item.id ? panel.action === action : undefined}
              onClick={() => begin([action])}
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
            onClick={() => undoThis(undoable)}
          >
            {isDeferral ? 'Bring back' : 'Undo'} {undoKey && <kbd>{undoKey}</kbd>}
          </button>
        )}
        {mayClaim && (
          <button type="button" class="button quiet" onClick={() => void claimOpenly(item.id)}>
            Claim
          </button>
        )}
        {held && (
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
          <span class="hint">{whyNot(item, [], me)}</span>
        )}
      </fieldset>
    </div>
  );
}
