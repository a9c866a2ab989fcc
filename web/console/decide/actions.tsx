import { claimWithToast } from '../claims/claims.ts';
import { findLease, leaseState, release } from '../in-progress/leases.ts';
import { hasDraft, panelState } from '../in-progress/panel-state.ts';
import { sentState, setMark } from '../in-progress/sent.ts';
import { placeState } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import { connectionState } from '../session/connection.ts';
import { messageState } from '../session/messages.ts';
import { settingsState } from '../session/settings.ts';
import type { Action, Item } from '../words/api-model.ts';
import { ACTION_NAMES } from '../words/labels.ts';
import { whyNotAllowed } from '../words/not-allowed.ts';
import { firstAllowed, PUBLISHING_ACTIONS, REMOVING_ACTIONS, startAction } from './decisions.ts';
import { DecisionPanel } from './panel.tsx';
import { startUndo, toUndoable, undoesCurrentItem } from './undo.ts';

const DANGEROUS_ACTIONS: readonly Action[] = ['reject', 'remove', 'uphold'];

interface ActionsProps {
  item: Item;
}

/** The actions that this moderator can take on an item, with their keys. */
export function Actions({ item }: ActionsProps) {
  const { me } = connectionState();
  const { panel } = panelState();
  const { marks } = sentState();
  const mark = marks.get(item.id);
  const undoable = toUndoable(item);
  return (
    <div class="actions">
      {panel?.itemId === item.id ? (
        <DecisionPanel panel={panel} key={item.id + panel.action} />
      ) : (
        mark?.kind === 'conflict' && <Conflict itemId={item.id} text={mark.text} />
      )}
      <fieldset class="bar" disabled={mark?.kind === 'deciding'}>
        <legend class="visually-hidden">Decide</legend>
        <DecisionButtons item={item} />
        {undoable && (
          <UndoButton
            name={item.decision?.decision === 'deferred' ? 'Bring back' : 'Undo'}
            onClick={() => startUndo(undoable)}
          />
        )}
        <ClaimButtons item={item} />
        {item.allowed_actions.length === 0 && !undoable && (
          <span class="hint">{whyNotAllowed(item, [], me)}</span>
        )}
      </fieldset>
    </div>
  );
}

function DecisionButtons({ item }: ActionsProps) {
  const { panel } = panelState();
  const { keys } = settingsState();
  const publishing = firstAllowed(item, PUBLISHING_ACTIONS);
  const removing = firstAllowed(item, REMOVING_ACTIONS);
  const shortcutFor = (action: Action): string | undefined => {
    if (action === publishing) return 'a';
    if (action === removing) return 'r';
    return action === 'escalate' ? 'e' : action === 'defer' ? 'd' : undefined;
  };
  return (
    <>
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
    </>
  );
}

function UndoButton({ name, onClick }: { name: string; onClick: () => void }) {
  const { keys } = settingsState();
  const { view } = placeState();
  const { toast } = messageState();
  // In other views, or while a toast offers an undo, the key undoes another decision.
  const key = keys && undoesCurrentItem(view) && !toast?.undo ? 'u' : undefined;
  return (
    <button type="button" class="button" aria-keyshortcuts={key} onClick={onClick}>
      {name} {key && <kbd>{key}</kbd>}
    </button>
  );
}

function ClaimButtons({ item }: ActionsProps) {
  const { me } = connectionState();
  const { keys } = settingsState();
  const { leases } = leaseState();
  const claimed = findLease(item.id) !== undefined;
  const lost = leases.get(item.id)?.lost ?? false;
  const claimedByOther = item.claim !== null && !item.claim.mine;
  const canClaim =
    me?.role !== 'auditor' &&
    !claimed &&
    !lost &&
    !claimedByOther &&
    item.allowed_actions.length > 0;
  return (
    <>
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
    </>
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
