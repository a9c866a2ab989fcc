import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { Field } from '../shared/field.tsx';
import { lengthError } from '../shared/text.tsx';
import { fullTime } from '../shared/time.tsx';

const MAX_LENGTH = 500;

/** Unsent appeals by note id; the form unmounts with its note when the session ends. */
const unsent = new Map<string, string>();

export const appealSent = (noteId: string) => unsent.delete(noteId);

interface AppealProps {
  noteId: string;
  until: Date;
  onSend: (text: string) => void;
}

export function Appeal({ noteId, until, onSend }: AppealProps) {
  const [text, setText] = useState(unsent.get(noteId) ?? '');
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector('textarea')?.focus(), []);
  const error = hasVisibleText(text)
    ? lengthError(text, MAX_LENGTH)
    : 'Say why this note should appear.';
  return (
    <form
      ref={form}
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!error) onSend(text);
      }}
    >
      <Field
        label="Why should this note appear?"
        name="appeal"
        rows={3}
        value={text}
        onValue={(next) => {
          unsent.set(noteId, next);
          setText(next);
        }}
        maxLength={MAX_LENGTH}
        error={tried ? error : undefined}
        hint={`You can appeal each decision once, until ${fullTime(until)}.`}
      />
      <div class="row">
        <button type="submit" class="button primary">
          Send appeal
        </button>
      </div>
    </form>
  );
}
