import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { hasVisibleText } from '../../platform/visible-text.ts';
import { announce } from '../shared/announce.tsx';
import { call } from '../shared/api.ts';
import { isComposing } from '../shared/composing.ts';
import { Field, focusFirstError } from '../shared/field.tsx';
import { randomUuid } from '../shared/random.ts';
import { tooLong } from '../shared/text.tsx';
import { type Draft, dropDraft, keepDraft, readDraft } from './drafts.ts';
import type { Experience } from './experience.ts';
import type { OwnNotes, Standing, Submission } from './own-notes-store.ts';
import { type Failure, issueOf, signInNeeded, uncertain, words } from './problem-text.ts';
import type { Session } from './session.ts';

const MESSAGE = 500;
const NAME = 40;

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
export function useFocusWhere(open: boolean) {
  const holder = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (open) holder.current?.querySelector<HTMLElement>('.compose textarea')?.focus();
  }, [open]);
  return holder;
}

const newDraft = (): Draft => ({ id: randomUuid(), message: '', name: '', asGuest: false });

/** The form for a note. The draft survives a reload, and a retry uses the same note id. */
export function Compose({ experience, parentId, session, own, onSent, onCancel }: ComposeProps) {
  const slot = `draft.${experience}.${parentId ?? 'top'}`;
  const [draft, setDraft] = useState<Draft>(() => ({ ...newDraft(), ...readDraft(slot) }));
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  /** The service already has an earlier version of this text, so the form holds a new note. */
  const [overtaken, setOvertaken] = useState(false);
  const [sending, setSending] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  // A note begun as a member stays a member's note, even if the session ends meanwhile.
  const [begunAs, setBegunAs] = useState(session?.handle);
  const handle = session?.handle ?? begunAs;
  const member = draft.asGuest ? undefined : handle;
  /** The last submission without a definite answer; cleared when the draft changes. */
  const sent = useRef<Submission>(undefined);
  const shown = useRef(true);
  /** The request in flight; `backOnline`: the network came back after it was sent. */
  const underWay = useRef<{ backOnline: boolean }>(undefined);

  useEffect(() => {
    if (!session) return;
    setBegunAs(session.handle);
    setFailure((said) => (said && signInNeeded(said) ? undefined : said));
  }, [session?.handle]);

  const change = (more: Partial<Draft>) => {
    sent.current = undefined;
    // Update the current draft: an answer can arrive long after its request.
    setDraft((now) => {
      const next = { ...now, ...more };
      if (next.message || next.name) keepDraft(slot, next);
      else dropDraft(slot, now.id);
      return next;
    });
  };

  const local = {
    message: hasVisibleText(draft.message)
      ? tooLong(draft.message, MESSAGE)
      : 'Write something first.',
    name: member ? undefined : tooLong(draft.name, NAME),
  };
  const errorOf = (field: 'message' | 'name') =>
    (tried ? local[field] : undefined) ?? issueOf(failure, field);

  async function send(): Promise<void> {
    setTried(true);
    if (underWay.current) return;
    if (local.message || local.name) {
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

  async function deliver(body: Submission): Promise<void> {
    sent.current = body;
    const way = { backOnline: false };
    underWay.current = way;
    setOvertaken(false);
    setSending(true);
    const answer = await call<{ status: Standing }>('POST', '/api/guestbook', { body });
    const changed = sent.current !== body;
    underWay.current = undefined;
    if (answer.kind === 'done' || !uncertain(answer)) sent.current = undefined;
    else if (way.backOnline && !changed) return deliver(body);
    setSending(false);
    if (answer.kind === 'done') {
      own.add({ body, sentAt: Date.now(), standing: answer.body.status });
      setFailure(undefined);
      if (changed) return beginAnother();
      dropDraft(slot, body.id);
      announce('Sent. Your note is waiting for review.');
      // If this form was closed meanwhile, another form may be open.
      if (shown.current) onSent();
      return;
    }
    const conflict = answer.kind === 'problem' && answer.code === 'submission_conflict';
    setFailure(conflict ? undefined : answer);
    if (signInNeeded(answer)) session?.ended();
    if (conflict) beginAnother();
    else focusFirstError(form.current);
  }

  /** Gives the text a new id, because the service has another text under the old one. */
  function beginAnother(): void {
    change({ id: randomUuid() });
    setOvertaken(true);
  }

  // When the network is back, an unconfirmed note is sent again with the same id.
  const resend = useRef(deliver);
  resend.current = deliver;
  // A closed form must not resend. useLayoutEffect, since useEffect cleans up a frame later.
  useLayoutEffect(() => {
    const again = () => {
      if (underWay.current) underWay.current.backOnline = true;
      else if (sent.current) void resend.current(sent.current);
    };
    addEventListener('online', again);
    return () => {
      shown.current = false;
      removeEventListener('online', again);
    };
  }, []);

  const kept = failure !== undefined && uncertain(failure);
  const fieldFault = issueOf(failure, 'message') ?? issueOf(failure, 'name');
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
        error={errorOf('message')}
        most={MESSAGE}
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
          error={errorOf('name')}
          hint="Shown exactly as typed. Nobody verifies it."
          most={NAME}
        />
      )}
      {overtaken && (
        <p class="box look" role="alert">
          Your earlier version was already sent. Sending this one posts a second note.
        </p>
      )}
      {failure && !fieldFault && (
        <p class="box bad" role="alert">
          {kept
            ? 'No answer from the service. Your text is kept on this device. You can safely send it again: it is posted only once.'
            : words(failure)}
        </p>
      )}
      <div class="row">
        <button type="submit" class="button primary" aria-disabled={sending}>
          {sending ? 'Sending…' : kept ? 'Send again' : 'Send for review'}
        </button>
        <button type="button" class="button quiet" onClick={onCancel}>
          {draft.message ? 'Save draft' : 'Cancel'}
        </button>
        <span class="hint">A moderator reads every note before it appears.</span>
      </div>
    </form>
  );
}
