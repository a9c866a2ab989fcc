import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../../platform/visible-text.ts';
import { Field, isComposing } from '../../shared/field.tsx';
import { getDraft, type Panel, setDraft, takesMessage } from '../in-progress/panel-state.ts';
import { HAS_KEYBOARD, settingsState } from '../session/settings.ts';
import { toSubject } from '../words/api-model.ts';
import { ACTION_NAMES } from '../words/labels.ts';
import { closePanel, DEFERRALS, hoursFromNow, submitPanel } from './decisions.ts';
import { activePolicies, NoPolicy } from './policy-list.tsx';
import {
  hasPrepared,
  insertPrepared,
  preparedMessages,
  togglePrepared,
} from './prepared-messages.ts';

const TITLES: Partial<Record<Panel['action'], string>> = {
  reject: 'Reject under which policy?',
  remove: 'Remove under which policy?',
  escalate: 'Escalate to a lead',
  defer: 'Defer for how long?',
  uphold: 'Uphold the decision',
};

const MAX_LENGTH = 500;

interface PanelProps {
  panel: Panel;
}

/** The input that a decision still needs. Digits choose; a message to the author is optional. */
export function DecisionPanel({ panel }: PanelProps) {
  const { keys } = settingsState();
  const { action, itemId, sending, fault, prepared } = panel;
  const text = getDraft(itemId, action);
  const place = useRef<HTMLElement>(null);
  // Focus the field before the next key, which would otherwise run a shortcut.
  useLayoutEffect(() => {
    const field = action === 'escalate' && place.current?.querySelector('textarea');
    (field || place.current)?.focus();
  }, [action]);
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
      <PanelHead panel={panel} keys={keys} />
      {fault && (
        <p class="box bad">
          {fault} {text && 'Your text is kept.'}
        </p>
      )}
      {prepared && <PreparedMessages keys={keys} />}
      {needsPolicy(action) && <PolicyChoices panel={panel} keys={keys} />}
      {action === 'defer' && <Deferrals keys={keys} />}
      {takesMessage(action) && <MessageField panel={panel} text={text} />}
    </section>
  );
}

const needsPolicy = (action: Panel['action']) => action === 'reject' || action === 'remove';

interface KeysProps {
  /** Whether keyboard shortcuts are on. */
  keys: boolean;
}

function PanelHead({ panel, keys }: PanelProps & KeysProps) {
  return (
    <div class="panel-head">
      <p class="label">{TITLES[panel.action]}</p>
      {hasPrepared(panel) && (
        <button
          type="button"
          class="button quiet prepared"
          aria-expanded={panel.prepared}
          aria-keyshortcuts={keys ? 'm' : undefined}
          onClick={togglePrepared}
        >
          Prepared messages {keys && <kbd>m</kbd>}
        </button>
      )}
      <button type="button" class="button quiet" onClick={closePanel}>
        Cancel {keys && <kbd>Esc</kbd>}
      </button>
    </div>
  );
}

function PreparedMessages({ keys }: KeysProps) {
  return (
    <ol class="prepared-list" aria-label="Prepared messages">
      {preparedMessages().map(({ policyTitle, text }, index) => (
        <li key={`${policyTitle} ${text}`}>
          <button
            type="button"
            class="button quiet prepared-choice"
            onClick={() => insertPrepared(index)}
          >
            {index < 9 && keys && <kbd>{index + 1}</kbd>} {policyTitle}: {text}
          </button>
        </li>
      ))}
    </ol>
  );
}

function PolicyChoices({ panel, keys }: PanelProps & KeysProps) {
  const policies = activePolicies();
  return (
    <div class="choices">
      {policies.map(({ code, title }, index) => (
        <button
          key={code}
          type="button"
          class="button danger"
          aria-disabled={panel.sending ? 'true' : undefined}
          onClick={() => submitPanel({ policy: code })}
        >
          {index < 9 && keys && !panel.prepared && <kbd>{index + 1}</kbd>} {title}
        </button>
      ))}
      {policies.length === 0 && <NoPolicy />}
    </div>
  );
}

function Deferrals({ keys }: KeysProps) {
  return (
    <div class="choices">
      {DEFERRALS.map(([hours, span], index) => (
        <button
          key={hours}
          type="button"
          class="button"
          onClick={() => submitPanel({ until: hoursFromNow(hours) })}
        >
          {keys && <kbd>{index + 1}</kbd>} {span}
        </button>
      ))}
    </div>
  );
}

function readerOf({ action, itemId }: Panel): string {
  if (action === 'escalate') return 'lead';
  return toSubject(itemId).type === 'member' ? 'member' : 'author';
}

/** The message to the author or the lead. If the decision needs no policy, its submit button. */
function MessageField({ panel, text }: PanelProps & { text: string }) {
  const { keys } = settingsState();
  const [isTyping, setIsTyping] = useState(false);
  const { action, itemId, sending } = panel;
  const choosesPolicy = needsPolicy(action);
  const missing = action === 'escalate' && !hasVisibleText(text);
  const submit = () => {
    if (!missing) submitPanel({});
  };
  const last = Math.min(activePolicies().length, 9);
  const policyHint = isTyping
    ? 'Press Esc, then the number of a policy.'
    : last > 0 && `${last > 1 ? '1–' : ''}${last} rejects. Tab to add a message.`;
  const hint = choosesPolicy ? keys && policyHint : 'Press Enter to send.';
  return (
    <div
      class="message-field"
      onFocusIn={({ target }) => setIsTyping(target instanceof HTMLTextAreaElement)}
      onFocusOut={() => setIsTyping(false)}
    >
      <Field
        label={`Message to the ${readerOf(panel)}`}
        name="message"
        rows={1}
        maxLength={MAX_LENGTH}
        optional={action !== 'escalate'}
        value={text}
        onValue={(value) => setDraft(itemId, action, value)}
        hint={(HAS_KEYBOARD && hint) || undefined}
        onKeyDown={(event) => {
          if (choosesPolicy || event.key !== 'Enter' || event.shiftKey || isComposing(event))
            return;
          event.preventDefault();
          submit();
        }}
      />
      {!choosesPolicy && (
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
    </div>
  );
}
