import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { Field } from '../shared/field.tsx';
import { lengthError } from '../shared/text.tsx';

const MAX_LENGTH = 500;

interface CorrectionProps {
  /** The text of the note now. */
  text: string;
  onSend: (text: string) => void;
  onCancel: () => void;
}

/** The form in which a member corrects a note that waits. */
export function Correction({ text: before, onSend, onCancel }: CorrectionProps) {
  const [text, setText] = useState(before);
  const [tried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector('textarea')?.focus(), []);
  const error = hasVisibleText(text) ? lengthError(text, MAX_LENGTH) : 'Write a note.';
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
        label="Your note"
        name="correction"
        rows={3}
        value={text}
        onValue={setText}
        maxLength={MAX_LENGTH}
        error={tried ? error : undefined}
        hint="The former text is erased. A moderator reads the new one."
      />
      <div class="row">
        <button type="submit" class="button primary">
          Save
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
