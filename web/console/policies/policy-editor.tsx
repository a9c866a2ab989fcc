import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../../platform/visible-text.ts';
import { Dialog } from '../../shared/dialog.tsx';
import { Field, focusFirstError } from '../../shared/field.tsx';
import { Alert } from '../../shared/live-region.tsx';
import { lengthError } from '../../shared/text.tsx';
import { loadPolicies, policyState } from '../decide/policy-list.tsx';
import { announce } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import type { Policy } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';

const MAX_TITLE_LENGTH = 80;
const MAX_TEXT_LENGTH = 1000;
const MAX_MESSAGES = 3;
const MAX_MESSAGE_LENGTH = 500;

const slots = Array.from({ length: MAX_MESSAGES }, (_, at) => at);

/** Validates a policy by the service's rules. Returns messages by field. */
function validate({ code, title, text, messages, version }: Policy) {
  const taken = version === 0 && policyState().policies.some((policy) => policy.code === code);
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

interface EditorProps {
  policy: Policy;
  onClose: () => void;
}

export function PolicyEditor({ policy, onClose }: EditorProps) {
  const [value, setValue] = useState(policy);
  const [leaving, setLeaving] = useState(false);
  const { form, tried, sending, fault, save } = useSave(value, onClose);
  const canClose = () => {
    const unchanged = isSame(value, policy);
    setLeaving(!unchanged);
    return unchanged;
  };
  return (
    <Dialog
      title={policy.version === 0 ? 'New policy' : `Edit: ${policy.title}`}
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
        {fault && <Alert>{fault}</Alert>}
        <PolicyFields
          value={value}
          tried={tried}
          onChange={(changes) => setValue({ ...value, ...changes })}
        />
        <div class="row-buttons">
          <button type="submit" class="button primary" aria-disabled={sending ? 'true' : undefined}>
            Save
          </button>
          {leaving && <LeaveButton onClick={onClose} />}
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

const isSame = (one: Policy, other: Policy): boolean =>
  one.title === other.title &&
  one.text === other.text &&
  one.code === other.code &&
  one.active === other.active &&
  slots.every((at) => (one.messages[at] ?? '') === (other.messages[at] ?? ''));

/** Saves a policy as the version after `value.version`. `tried`: submitted, so show the errors. */
function useSave(value: Policy, onSaved: () => void) {
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const save = async () => {
    if (sending) return;
    setTried(true);
    if (Object.values(validate(value)).some(Boolean)) {
      focusFirstError(form.current);
      return;
    }
    setSending(true);
    const { code, title, text, active, version } = value;
    try {
      const messages = value.messages.filter(hasVisibleText);
      const body = { code, title, text, active, messages, expected_version: version };
      await call('PUT', 'policies', body);
      await loadPolicies();
      announce('Policy saved.');
      // If this editor was closed meanwhile, another one may be open.
      if (form.current) onSaved();
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
  return { form, tried, sending, fault, save };
}

interface FieldsProps {
  value: Policy;
  tried: boolean;
  onChange: (changes: Partial<Policy>) => void;
}

function PolicyFields({ value, tried, onChange }: FieldsProps) {
  const errors: Partial<ReturnType<typeof validate>> = tried ? validate(value) : {};
  return (
    <>
      {value.version === 0 && (
        <Field
          label="Code"
          name="code"
          code
          hint="a–z, 0–9 and _; the code cannot be changed later"
          value={value.code}
          onValue={(code) => onChange({ code })}
          error={errors.code}
        />
      )}
      <Field
        label="Title"
        name="title"
        maxLength={MAX_TITLE_LENGTH}
        value={value.title}
        onValue={(title) => onChange({ title })}
        error={errors.title}
      />
      <Field
        label="Text for the author"
        name="text"
        rows={4}
        maxLength={MAX_TEXT_LENGTH}
        value={value.text}
        onValue={(text) => onChange({ text })}
        error={errors.text}
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
            onChange({
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
          onChange={(event) => onChange({ active: event.currentTarget.checked })}
        />
        In force
      </label>
    </>
  );
}

/** Gets the focus when it appears, because the attempt to close the dialog brought it. */
function LeaveButton({ onClick }: { onClick: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), []);
  return (
    <button ref={button} type="button" class="button danger" onClick={onClick}>
      Close without saving
    </button>
  );
}
