import { useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../../platform/visible-text.ts';
import { Field, isComposing } from '../../shared/field.tsx';
import { randomUuid } from '../../shared/random.ts';
import { codePoints } from '../../shared/text.tsx';
import { readDraft, saveDraft } from '../in-progress/panel-state.ts';
import { connectionState } from '../session/connection.ts';
import { announce, showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import type { HistoryEvent } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';

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

interface DeleteCommentProps {
  comment: HistoryEvent;
  /** The subject in the API, as in `CommentForm`. */
  subject: string;
  /** Reads the comments again. */
  onDeleted: () => void;
}

/** Deletes a comment, for its author and for leads. A deletion is final, so it takes two presses. */
export function DeleteComment({ comment, subject, onDeleted }: DeleteCommentProps) {
  const { me } = connectionState();
  const [isAsking, setAsking] = useState(false);
  const sending = useRef(false);
  if (comment.text === null) return null;
  if (me?.role !== 'lead' && (me?.role === 'auditor' || comment.actor.id !== me?.id)) return null;
  const erase = async () => {
    if (sending.current) return;
    sending.current = true;
    try {
      await call('POST', `subjects/${subject}/comments/${comment.event_id}/delete`, {});
      announce('The comment was deleted.');
    } catch (error) {
      showToast(failureText(toFailure(error)), { tone: 'alert' });
    }
    sending.current = false;
    onDeleted();
  };
  const press = () => {
    if (isAsking) void erase();
    else {
      setAsking(true);
      announce('Press again to delete the comment.');
    }
  };
  return (
    <button
      type="button"
      class={`button quiet delete-comment ${isAsking ? 'asking' : ''}`}
      onClick={press}
      onBlur={() => setAsking(false)}
    >
      {isAsking ? 'Delete comment for good' : 'Delete comment'}
    </button>
  );
}
