import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { Field } from '../shared/field.tsx';
import { lengthError } from '../shared/text.tsx';
import { fullTime } from '../shared/time.tsx';

const MAX_LENGTH = 500;

interface OwnTextFormProps {
  label: string;
  name: string;
  /** The text at first. */
  text: string;
  hint: string;
  /** The error for a text in which nothing is visible. */
  emptyError: string;
  /** The text of the button that sends. */
  sendLabel: string;
  onText?: (text: string) => void;
  onSend: (text: string) => void;
  /** Without it, there is no button to cancel. */
  onCancel?: () => void;
}

/** The form for a text that an author sends about a note of theirs; it takes the focus. */
export function OwnTextForm(props: OwnTextFormProps) {
  const [text, setText] = useState(props.text);
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector('textarea')?.focus(), []);
  const error = hasVisibleText(text) ? lengthError(text, MAX_LENGTH) : props.emptyError;
  return (
    <form
      ref={form}
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!error) props.onSend(text);
      }}
    >
      <Field
        label={props.label}
        name={props.name}
        rows={3}
        value={text}
        onValue={(next) => {
          props.onText?.(next);
          setText(next);
        }}
        maxLength={MAX_LENGTH}
        error={tried ? error : undefined}
        hint={props.hint}
      />
      <div class="row">
        <button type="submit" class="button primary">
          {props.sendLabel}
        </button>
        {props.onCancel && (
          <button type="button" class="button quiet" onClick={props.onCancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

/** Unsent appeals by note id; the form unmounts with its note when the session ends. */
const unsent = new Map<string, string>();

export const appealSent = (noteId: string) => unsent.delete(noteId);

interface AppealProps {
  noteId: string;
  until: Date;
  onSend: (text: string) => void;
}

export function Appeal({ noteId, until, onSend }: AppealProps) {
  return (
    <OwnTextForm
      label="Why should this note appear?"
      name="appeal"
      text={unsent.get(noteId) ?? ''}
      hint={`You can appeal each decision once, until ${fullTime(until)}.`}
      emptyError="Say why this note should appear."
      sendLabel="Send appeal"
      onText={(text) => unsent.set(noteId, text)}
      onSend={onSend}
    />
  );
}
