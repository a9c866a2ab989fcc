import { useLayoutEffect, useRef } from 'preact/hooks';
import { Field, isComposing } from '../shared/field.tsx';
import { Alert } from '../shared/live-region.tsx';
import { type Failure, failureText, fieldError, isUncertain } from './problem-text.ts';
import {
  MAX_MESSAGE_LENGTH,
  MAX_NAME_LENGTH,
  type NoteFormOptions,
  useNoteForm,
} from './use-note-form.ts';

interface ComposeProps extends NoteFormOptions {
  onCancel: () => void;
}

/**
 * A ref for the element that contains a compose form. Focuses the form when it opens, but not when
 * another form replaces it.
 */
export function useComposeFocus(open: boolean) {
  const holder = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (open) holder.current?.querySelector<HTMLElement>('.compose textarea')?.focus();
  }, [open]);
  return holder;
}

/** The form for a note. The draft survives a reload, and a retry uses the same note id. */
export function Compose({ onCancel, ...options }: ComposeProps) {
  const { parentId } = options;
  const { form, draft, change, handle, member, errors, failure, alreadySent, sending, send } =
    useNoteForm(options);
  const retryable = failure !== undefined && isUncertain(failure);
  return (
    <form
      ref={form}
      class="compose"
      noValidate
      aria-label={parentId ? 'Reply' : 'New note'}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Field
        label={parentId ? 'Your reply' : 'Your note'}
        name="message"
        rows={parentId ? 3 : 4}
        value={draft.message}
        onValue={(message) => change({ message })}
        error={errors.message}
        maxLength={MAX_MESSAGE_LENGTH}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      {handle && <WriteAs handle={handle} asGuest={draft.asGuest} change={change} />}
      {!member && (
        <Field
          label="Name"
          name="name"
          optional
          value={draft.name}
          onValue={(name) => change({ name })}
          error={errors.name}
          hint="Shown exactly as typed. Nobody verifies it."
          maxLength={MAX_NAME_LENGTH}
        />
      )}
      {alreadySent && (
        <p class="box look" role="alert">
          Your earlier version was already sent. Sending this one posts a second note.
        </p>
      )}
      {failure && <SendFailure failure={failure} />}
      <div class="row">
        <button type="submit" class="button primary" aria-disabled={sending}>
          {sending ? 'Sending…' : retryable ? 'Send again' : 'Send for review'}
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          {draft.message ? 'Save draft' : 'Cancel'}
        </button>
        <span class="hint">A moderator reads every note before it appears.</span>
      </div>
    </form>
  );
}

interface WriteAsProps {
  handle: string;
  asGuest: boolean;
  change: (changes: { asGuest: boolean }) => void;
}

function WriteAs({ handle, asGuest, change }: WriteAsProps) {
  return (
    <fieldset class="row">
      <legend class="label write-as">Write as</legend>
      {[false, true].map((guest) => (
        <label class="check" key={String(guest)}>
          <input
            type="radio"
            name="as"
            checked={asGuest === guest}
            onChange={() => change({ asGuest: guest })}
          />
          {guest ? 'a guest' : handle}
        </label>
      ))}
    </fieldset>
  );
}

function SendFailure({ failure }: { failure: Failure }) {
  if (fieldError(failure, 'message') ?? fieldError(failure, 'name')) return null;
  return (
    <Alert>
      {isUncertain(failure)
        ? 'No answer from the service. Your text is kept on this device. You can safely send it again: it is posted only once.'
        : failureText(failure)}
    </Alert>
  );
}
