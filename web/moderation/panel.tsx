import { useLayoutEffect, useRef } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { isComposing } from '../shared/composing.ts';
import { Field } from '../shared/field.tsx';
import { closePanel, finish } from './begin.ts';
import { DEFERRALS, inHours } from './keys.ts';
import { NoPolicy } from './no-policy.tsx';
import { activePolicies } from './policy-list.ts';
import { draft, draftOf, isWorded, type Panel, store } from './state.ts';
import { useStore } from './store.ts';
import { ACTION_NAMES } from './words.ts';

const TITLES: Partial<Record<Panel['action'], string>> = {
  reject: 'Reject under which policy?',
  remove: 'Remove under which policy?',
  escalate: 'Escalate to a lead',
  defer: 'Defer for how long?',
  uphold: 'Uphold the decision',
};

const MAX_LENGTH = 500;

/** The input that a decision still needs. Digits choose; a message to the author is optional. */
export function DecisionPanel({ panel }: { panel: Panel }) {
  const { keys } = useStore(store);
  const { action, itemId, sending, fault } = panel;
  const place = useRef<HTMLElement>(null);
  const text = draftOf(itemId, action);
  // Focus the field before the next key, which would otherwise run a shortcut.
  useLayoutEffect(() => {
    const field = action === 'escalate' && place.current?.querySelector('textarea');
    (field || place.current)?.focus();
  }, [action]);
  const policies = action === 'reject' || action === 'remove';
  const words = isWorded(action);
  const missing = action === 'escalate' && !hasVisibleText(text);
  const submit = () => {
    if (!missing) finish({});
  };
  return (
    <section
      ref={place}
      class="panel"
      id="panel"
      data-panel
      tabIndex={-1}
      aria-label={TITLES[action]}
      aria-busy={sending}
    >
      <div class="panel-head">
        <p class="label">{TITLES[action]}</p>
        <button type="button" class="button quiet" onClick={closePanel}>
          Cancel {keys && <kbd>Esc</kbd>}
        </button>
      </div>
      {fault && (
        <p class="box bad">
          {fault} {text && 'Your text is kept.'}
        </p>
      )}
      {policies && (
        <div class="choices">
          {activePolicies().map(({ code, title }, index) => (
            <button
              key={code}
              type="button"
              class="button danger"
              aria-disabled={sending ? 'true' : undefined}
              onClick={() => finish({ policy: code })}
            >
              {index < 9 && keys && <kbd>{index + 1}</kbd>} {title}
            </button>
          ))}
          {activePolicies().length === 0 && <NoPolicy />}
        </div>
      )}
      {action === 'defer' && (
        <div class="choices">
          {DEFERRALS.map(([hours, span], index) => (
            <button
              key={hours}
              type="button"
              class="button"
              onClick={() => finish({ until: inHours(hours) })}
            >
              {keys && <kbd>{index + 1}</kbd>} {span}
            </button>
          ))}
        </div>
      )}
      {words && (
        <Field
          label={action === 'escalate' ? 'Message to the lead' : 'Message to the author'}
          name="message"
          rows={2}
          most={MAX_LENGTH}
          optional={action !== 'escalate'}
          value={text}
          onValue={(value) => draft(itemId, action, value)}
          hint={policies ? 'Press Esc, then the number of a policy.' : 'Press Enter to send.'}
          onKeyDown={(event) => {
            if (policies || event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
            event.preventDefault();
            submit();
          }}
        />
      )}
      {words && !policies && (
        <div class="row-buttons">
          <button
            type="button"
            class="button primary"
            aria-disabled={missing || sending ? 'true' : undefined}
            onClick={submit}
          >
            {ACTION_NAMES[action]}
          </button>
        </div>
      )}
    </section>
  );
}
