import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { announce } from '../shared/announce.tsx';
import { call } from '../shared/api.ts';
import { isComposing } from '../shared/composing.ts';
import { Field, focusFirstError } from '../shared/field.tsx';
import { randomUuid } from '../shared/random.ts';
import { lengthError } from '../shared/text.tsx';
import { type Draft, deleteDraft, readDraft, saveDraft } from './drafts.ts';
import type { Experience } from './experience.ts';
import type { OwnNotes, Standing, Submission } from './own-notes-store.ts';
import { type Failure, failureText, fieldError, isUncertain, needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';

const MAX_MESSAGE_LENGTH = 500;
const MAX_NAME_LENGTH = 40;
/** Pauses before further attempts, because a browser may report a network that does not work yet. */
const PAUSES_BACK_ONLINE_MS: readonly number[] = [500, 2000, 5000];

interface ComposeProps {
  experience: Experience;
  /** The note that this one replies to, or null. */
  parentId: string | null;
  session: Session | undefined;
  own: OwnNotes;
  onSent: () => void;
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

const createDraft = (): Draft => ({ id: randomUuid(), message: '', name: '', asGuest: false });

/** The form for a note. The draft survives a reload, and a retry uses the same note id. */
export function Compose({ experience, parentId, session, own, onSent, onCancel }: ComposeProps) {
  const slot = `draft.${experience}.${parentId ?? 'top'}`;
  const [draft, setDraft] = useState<Draft>(() => ({ ...createDraft(), ...readDraft(slot) }));
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  /** The service already has an earlier version of this text, so the form holds a new note. */
  const [alreadySent, setAlreadySent] = useState(false);
  const [sending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // A note begun as a member stays a member's note, even if the session ends meanwhile.
  const [startedAs, setStartedAs] = useState(session?.handle);
  const handle = session?.handle ?? startedAs;
  const member = draft.asGuest ? undefined : handle;
  /** The last submission without a definite answer; cleared when the draft changes. */
  const unconfirmed = useRef<Submission>(undefined);
  const mounted = useRef(true);
  /** The request in flight; `backOnline`: the network came back after it was sent. */
  const inFlight = useRef<{ backOnline: boolean }>(undefined);

  useEffect(() => {
    if (!session) return;
    setStartedAs(session.handle);
    setFailure((current) => (current && needsSignIn(current) ? undefined : current));
  }, [session?.handle]);

  const change = (changes: Partial<Draft>) => {
    unconfirmed.current = undefined;
    // Update the current draft: an answer can arrive long after its request.
    setDraft((current) => {
      const next = { ...current, ...changes };
      if (next.message || next.name) saveDraft(slot, next);
      else deleteDraft(slot, current.id);
      return next;
    });
  };

  const localErrors = {
    message: hasVisibleText(draft.message)
      ? lengthError(draft.message, MAX_MESSAGE_LENGTH)
      : 'Write something first.',
    name: member ? undefined : lengthError(draft.name, MAX_NAME_LENGTH),
  };
  const errorFor = (field: 'message' | 'name') =>
    (tried ? localErrors[field] : undefined) ?? fieldError(failure, field);

  async function send(): Promise<void> {
    setTried(true);
    if (inFlight.current) return;
    if (localErrors.message || localErrors.name) {
      focusFirstError(form.current);
      return;
    }
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

  async function deliver(body: Submission, pauses: readonly number[] = []): Promise<void> {
    unconfirmed.current = body;
    const request = { backOnline: false };
    inFlight.current = request;
    setAlreadySent(false);
    setSending(true);
    const answer = await call<{ status: Standing }>('POST', '/api/guestbook', { body });
    const uncertain = answer.kind !== 'ok' && isUncertain(answer);
    const [pause, ...further] = request.backOnline ? [0, ...PAUSES_BACK_ONLINE_MS] : pauses;
    if (uncertain && pause !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (mounted.current && unconfirmed.current === body) return deliver(body, further);
    }
    const changed = unconfirmed.current !== body;
    inFlight.current = undefined;
    if (!uncertain) unconfirmed.current = undefined;
    setSending(false);
    if (answer.kind === 'ok') {
      own.add({ body, sentAt: Date.now(), standing: answer.body.status });
      setFailure(undefined);
      if (changed) return startNewNote();
      deleteDraft(slot, body.id);
      announce('Sent. Your note is waiting for review.');
      // If this form was closed meanwhile, another form may be open.
      if (mounted.current) onSent();
      return;
    }
    const conflict = answer.kind === 'problem' && answer.code === 'submission_conflict';
    setFailure(conflict ? undefined : answer);
    if (needsSignIn(answer)) session?.end();
    if (conflict) startNewNote();
    else focusFirstError(form.current);
  }

  /** Gives the text a new id, because the service has another text under the old one. */
  function startNewNote(): void {
    change({ id: randomUuid() });
    setAlreadySent(true);
  }

  // When the network is back, an unconfirmed note is sent again with the same id.
  const resend = useRef(deliver);
  resend.current = deliver;
  // A closed form must not resend. useLayoutEffect, since useEffect cleans up a frame later.
  useLayoutEffect(() => {
    const again = () => {
      if (inFlight.current) inFlight.current.backOnline = true;
      else if (unconfirmed.current) void resend.current(unconfirmed.current, PAUSES_BACK_ONLINE_MS);
    };
    addEventListener('online', again);
    return () => {
      mounted.current = false;
      removeEventListener('online', again);
    };
  }, []);

  const retryable = failure !== undefined && isUncertain(failure);
  const failureInField = fieldError(failure, 'message') ?? fieldError(failure, 'name');
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
        error={errorFor('message')}
        maxLength={MAX_MESSAGE_LENGTH}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void send();
        }}
      />
      {handle && (
        <fieldset class="row">
          <legend class="label write-as">Write as</legend>
          {[false, true].map((asGuest) => (
            <label class="check" key={String(asGuest)}>
              <input
                type="radio"
                name="as"
                checked={draft.asGuest === asGuest}
                onChange={() => change({ asGuest })}
              />
              {asGuest ? 'a guest' : handle}
            </label>
          ))}
        </fieldset>
      )}
      {!member && (
        <Field
          label="Name"
          name="name"
          optional
          value={draft.name}
          onValue={(name) => change({ name })}
          error={errorFor('name')}
          hint="Shown exactly as typed. Nobody verifies it."
          maxLength={MAX_NAME_LENGTH}
        />
      )}
      {alreadySent && (
        <p class="box look" role="alert">
          Your earlier version was already sent. Sending this one posts a second note.
        </p>
      )}
      {failure && !failureInField && (
        <p class="box bad" role="alert">
          {retryable
            ? 'No answer from the service. Your text is kept on this device. You can safely send it again: it is posted only once.'
            : failureText(failure)}
        </p>
      )}
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
