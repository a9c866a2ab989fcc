import { useRef, useState } from 'preact/hooks';
import { connectionState } from '../session/connection.ts';
import { announce, showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import type { HistoryEvent } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';

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
