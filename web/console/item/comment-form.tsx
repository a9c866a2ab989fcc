import { useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../../platform/visible-text.ts';
import { isComposing } from '../../shared/composing.ts';
import { Field } from '../../shared/field.tsx';
import { randomUuid } from '../../shared/random.ts';
import { codePoints } from '../../shared/text.tsx';
import { connectionState } from '../session/connection.ts';
import { announce } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { readDraft, saveDraft } from '../work/panel-state.ts';

const MAX_LENGTH = 1000;

interface CommentFormProps {
  /** The subject in the API: `note/id`, `member/id` or the type and id of a record. */
  subject: string;
  label: string;
  id?: string;
  /** Reads the comments again. */
  onAdded: () => void;
}

/** Adds a comment for moderators. An unsent text is kept as a draft of its subject. */
export function CommentForm({ subject, label, id, onAdded }: CommentFormProps) {
  const { me } = connectionState();
  const [sending, setSending] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  // The same text is added once, however often it is sent.
  const key = useRef(randomUuid());
  const slot = `${subject} comment`;
  const text = readDraft(slot);
  if (me?.role === 'auditor') return null;
  const setText = (value: string) => {
    key.current = randomUuid();
    saveDraft(slot, value);
  };
  const missing = !hasVisibleText(text) || codePoints(text) > MAX_LENGTH;
  const send = async () => {
    if (missing || sending) return;
    setSending(true);
    setFault(null);
    try {
      await call('POST', `subjects/${subject}/comments`, { text }, key.current);
      setText('');
      announce('The comment was added.');
      onAdded();
    } catch (error) {
      setFault(failureText(toFailure(error)));
    }
    setSending(false);
  };
  return (
    <form
      class="comment-form"
      id={id}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <Field
        label={label}
        name="comment"
        rows={1}
        maxLength={MAX_LENGTH}
        value={text}
        onValue={setText}
        hint="Only moderators see comments."
        error={fault ?? undefined}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          void send();
        }}
      />
      <button type="submit" class="button" aria-disabled={missing || sending ? 'true' : undefined}>
        Comment
      </button>
    </form>
  );
}
