import { useEffect, useRef, useState } from 'preact/hooks';
import type { Experience } from '../../domain/guestbook/words.ts';
import { beforeRefused, hasVisibleText, withLineFeeds } from '../../platform/visible-text.ts';
import { focusFirstError } from '../shared/field.tsx';
import { announce } from '../shared/live-region.tsx';
import { randomUuid } from '../shared/random.ts';
import { lengthError } from '../shared/text.tsx';
import { type Draft, deleteDraft, useDraft } from './drafts.ts';
import type { OwnNotes, Submission } from './own-notes-store.ts';
import { type Failure, fieldError, needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';
import { type DeliveryAnswer, useDelivery } from './use-delivery.ts';

export const MAX_MESSAGE_LENGTH = 500;
export const MAX_NAME_LENGTH = 40;

export interface NoteFormOptions {
  experience: Experience;
  /** The note that this one replies to, or null. */
  parentId: string | null;
  session: Session | undefined;
  own: OwnNotes;
  onSent: () => void;
}

/** The state of the form for a note: its draft, its errors and the request that sends it. */
export function useNoteForm({ experience, parentId, session, own, onSent }: NoteFormOptions) {
  const slot = `draft.${experience}.${parentId ?? 'top'}`;
  const [draft, changeDraft] = useDraft(slot, session?.handle);
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  /** The service already has an earlier version of this text, so the form holds a new note. */
  const [alreadySent, setAlreadySent] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const handle = useHandle(session);
  const member = draft.asGuest ? undefined : handle;
  const { sending, isInFlight, deliver, noteChanged } = useDelivery(receive);

  useEffect(() => {
    if (session) setFailure((old) => (old && needsSignIn(old) ? undefined : old));
  }, [session?.handle]);

  function change(changes: Partial<Draft>): void {
    noteChanged();
    changeDraft(changes);
  }

  const localErrors = validate(draft, member);
  const errorFor = (field: 'message' | 'name') =>
    (tried ? localErrors[field] : undefined) ?? fieldError(failure, field);

  async function send(): Promise<void> {
    setTried(true);
    if (isInFlight()) return;
    if (localErrors.message || localErrors.name) {
      focusFirstError(form.current);
      return;
    }
    setAlreadySent(false);
    await deliver({
      id: draft.id,
      message: draft.message,
      experience,
      parent_id: parentId,
      ...(member
        ? { attribution: 'member', member_handle: member }
        : { attribution: 'guest', name: draft.name }),
    });
  }

  function receive(answer: DeliveryAnswer, body: Submission, changed: boolean): void {
    if (answer.kind === 'ok') {
      own.add({ body, sentAt: Date.now(), standing: answer.body.status });
      setFailure(undefined);
      if (changed) startNewNote();
      else finish(body.id);
      return;
    }
    const conflict = answer.kind === 'problem' && answer.code === 'submission_conflict';
    setFailure(conflict ? undefined : answer);
    if (needsSignIn(answer)) session?.end();
    if (conflict) startNewNote();
    else focusFirstError(form.current);
  }

  function finish(id: string): void {
    deleteDraft(slot, id);
    announce('Sent. Your note is waiting for review.');
    // If this form was closed meanwhile, another form may be open.
    if (form.current) onSent();
  }

  /** Gives the text a new id, because the service has another text under the old one. */
  function startNewNote(): void {
    change({ id: randomUuid() });
    setAlreadySent(true);
  }

  const errors = { message: errorFor('message'), name: errorFor('name') };
  return { form, draft, change, handle, member, errors, failure, alreadySent, sending, send };
}

/** The member's handle. A note begun as a member stays a member's note if the session ends. */
function useHandle(session: Session | undefined): string | undefined {
  const [startedAs, setStartedAs] = useState(session?.handle);
  useEffect(() => {
    if (session) setStartedAs(session.handle);
  }, [session?.handle]);
  return session?.handle ?? startedAs;
}

const validate = ({ message, name }: Draft, member: string | undefined) => ({
  message: hasVisibleText(message)
    ? textError(message, MAX_MESSAGE_LENGTH)
    : 'Write something first.',
  name: member ? undefined : textError(name, MAX_NAME_LENGTH),
});

/** The field names the place of an invisible character, and offers to remove it. */
const textError = (text: string, maxLength: number): string | undefined =>
  beforeRefused(withLineFeeds(text)) === undefined
    ? lengthError(text, maxLength)
    : 'Remove the invisible character.';
