import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Field, focusFirstError } from '../shared/field.tsx';
import { lengthError } from '../shared/text.tsx';
import { call, toFailure } from './api.ts';
import type { Policy } from './api-model.ts';
import { failureText } from './failure-text.ts';
import { loadPolicies } from './policy-list.ts';
import { announce, get } from './state.ts';

const MAX_TITLE_LENGTH = 80;
const MAX_TEXT_LENGTH = 1000;
const MAX_MESSAGES = 3;
const MAX_MESSAGE_LENGTH = 500;

const slots = Array.from({ length: MAX_MESSAGES }, (_, at) => at);

/** Validates a policy by the service's rules. Returns messages by field. */
function validate({ code, title, text, messages, version }: Policy) {
  const taken = version === 0 && get().policies.some((policy) => policy.code === code);
  return {
    code: !/^[a-z][a-z0-9_]{1,39}$/.test(code)
      ? 'Use 2 to 40 characters: a–z, 0–9 and _, starting with a letter.'
      : taken
        ? 'Another policy has this code.'
        : undefined,
    title: hasVisibleText(title) ? lengthError(title, MAX_TITLE_LENGTH) : 'Write a title.',
    text: hasVisibleText(text)
      ? lengthError(text, MAX_TEXT_LENGTH)
      : 'Write a text for the author.',
    messages: messages.map((message) => lengthError(message, MAX_MESSAGE_LENGTH)).find(Boolean),
  };
}

export function PolicyEditor({ policy, onClose }: { policy: Policy; onClose: () => void }) {
  const [value, change] = useState(policy);
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const [tried, setTried] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => leave.current?.focus(), [leaving]);
  const isNew = policy.version === 0;
  const faults = validate(value);
  const errorFor = (field: keyof typeof faults) => (tried ? faults[field] : undefined);
  const save = async () => {
    if (sending) return;
    setTried(true);
    if (Object.values(faults).some(Boolean)) {
      focusFirstError(form.current);
      return;
    }
    setSending(true);
    const { code, title, text, active } = value;
    try {
      const messages = value.messages.filter(hasVisibleText);
      const body = { code, title, text, active, messages, expected_version: policy.version };
      await call('PUT', 'policies', body);
      await loadPolicies();
      announce('Policy saved.');
      // If this editor was closed meanwhile, another one may be open.
      if (form.current) onClose();
    } catch (error) {
      const failure = toFailure(error);
      setFault(
        failure.reason === 'version_mismatch'
          ? 'Someone changed this policy after you opened it. Your text is kept; close this dialog to see the other version.'
          : failureText(failure),
      );
      setSending(false);
    }
  };
  const canClose = () => {
    const { title, text, code, active, messages } = value;
    const same = title === policy.title && text === policy.text && code === policy.code;
    const sameMessages = slots.every((at) => (messages[at] ?? '') === (policy.messages[at] ?? ''));
    const unchanged = same && sameMessages && active === policy.active;
    setLeaving(!unchanged);
    return unchanged;
  };
  return (
    <Dialog
      title={isNew ? 'New policy' : `Edit: ${policy.title}`}
      onClose={onClose}
      canClose={canClose}
    >
      <form
        ref={form}
        class="policy-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {fault && (
          <p class="box bad" role="alert">
            {fault}
          </p>
        )}
        {isNew && (
          <Field
            label="Code"
            name="code"
            code
            hint="a–z, 0–9 and _; the code cannot be changed later"
            value={value.code}
            onValue={(code) => change({ ...value, code })}
            error={errorFor('code')}
          />
        )}
        <Field
          label="Title"
          name="title"
          maxLength={MAX_TITLE_LENGTH}
          value={value.title}
          onValue={(title) => change({ ...value, title })}
          error={errorFor('title')}
        />
        <Field
          label="Text for the author"
          name="text"
          rows={4}
          maxLength={MAX_TEXT_LENGTH}
          value={value.text}
          onValue={(text) => change({ ...value, text })}
          error={errorFor('text')}
        />
        {slots.map((at) => (
          <Field
            key={at}
            label={`Prepared message ${at + 1}`}
            name={`message_${at + 1}`}
            rows={1}
            optional
            maxLength={MAX_MESSAGE_LENGTH}
            value={value.messages[at] ?? ''}
            onValue={(message) =>
              change({
                ...value,
                messages: slots.map((one) => (one === at ? message : (value.messages[one] ?? ''))),
              })
            }
            error={tried ? lengthError(value.messages[at] ?? '', MAX_MESSAGE_LENGTH) : undefined}
          />
        ))}
        <label class="check">
          <input
            type="checkbox"
            checked={value.active}
            onChange={(event) => change({ ...value, active: event.currentTarget.checked })}
          />
          In force
        </label>
        <div class="row-buttons">
          <button type="submit" class="button primary" aria-disabled={sending ? 'true' : undefined}>
            Save
          </button>
          {leaving && (
            <button ref={leave} type="button" class="button danger" onClick={onClose}>
              Close without saving
            </button>
          )}
        </div>
        {leaving && (
          <p class="box look" role="alert">
            Your changes are not saved.
          </p>
        )}
      </form>
    </Dialog>
  );
}
