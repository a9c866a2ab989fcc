import { useRef, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { focusIfLost } from '../shared/focus.ts';
import { RelativeTime } from '../shared/time.tsx';
import { Tag, type TagProps } from '../site/parts.tsx';
import { Appeal, appealSent } from './appeal.tsx';
import { experienceName } from './experience.ts';
import { Message } from './note-item.tsx';
import type { OwnNote, OwnNotes } from './own-notes-store.ts';
import { type Failure, failureText, needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';
import { toast } from './toast.tsx';

interface OwnNotesProps {
  own: OwnNotes;
  session: Session | undefined;
}

/** The notes sent from this browser, with their status. */
export function OwnNotesList({ own, session }: OwnNotesProps) {
  if (own.mine.length === 0) return null;
  const hasPending = own.mine.some(({ standing }) => standing === 'pending_review');
  return (
    <section class="own" aria-labelledby="own-title">
      <div class="own-head">
        <h2 id="own-title" tabIndex={-1}>
          Your notes
        </h2>
        <button type="button" class="button quiet" onClick={() => void own.checkAll()}>
          Check now
        </button>
      </div>
      {hasPending && (
        <p class="hint">
          Only moderators can read a waiting note until one of them approves it. This page checks
          every minute.
        </p>
      )}
      <ul>
        {own.mine.map((note) => (
          <li key={note.body.id}>
            <OwnNoteItem note={note} own={own} session={session} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const TAGS = {
  pending_review: { kind: 'look', word: 'Waiting for review' },
  published: { kind: 'good', word: 'Published' },
  not_published: { kind: 'bad', word: 'Not published' },
} as const;

function toTag({ standing, outcome }: OwnNote): TagProps {
  if (outcome?.outcome === 'withdrawn') return { word: 'Withdrawn by you' };
  if (outcome?.outcome === 'removed') return { kind: 'bad', word: 'Removed' };
  return TAGS[standing];
}

function OwnNoteItem({ note, own, session }: OwnNotesProps & { note: OwnNote }) {
  const { body, standing, outcome } = note;
  const [openForm, setOpenForm] = useState<'withdraw' | 'appeal'>();
  const [failure, setFailure] = useState<Failure>();
  const busy = useRef(false);
  const member = body.attribution === 'member';
  const withdrawn = outcome?.outcome === 'withdrawn';
  const textId = `own-${body.id}`;
  const item = useRef<HTMLDivElement>(null);

  async function act(
    action: 'withdraw' | 'appeal',
    request: object,
    confirmation: string,
  ): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    const answer = await call('POST', `/api/guestbook/${body.id}/${action}`, { body: request });
    busy.current = false;
    // A retry after a lost answer finds that the appeal has already arrived.
    const alreadyAppealed =
      answer.kind === 'problem' && answer.details.reason === 'already_appealed';
    if (answer.kind !== 'ok' && !alreadyAppealed) {
      setFailure(answer);
      if (needsSignIn(answer)) session?.end({ showNotice: true });
      return;
    }
    setFailure(undefined);
    setOpenForm(undefined);
    if (action === 'appeal') {
      appealSent(body.id);
      own.update(body.id, { appealed: true });
    }
    await own.check(note);
    toast(confirmation);
    // The pressed button has been removed.
    focusIfLost(item.current);
  }

  function cancel(): void {
    setOpenForm(undefined);
    item.current?.querySelector('button')?.focus();
  }

  function removeFromList(): void {
    own.remove(body.id);
    requestAnimationFrame(() =>
      (document.getElementById('own-title') ?? document.getElementById('content'))?.focus(),
    );
  }

  return (
    <div class="own-note" ref={item} tabIndex={-1}>
      <p class="own-meta">
        <Tag {...toTag(note)} />
        <span>
          {body.parent_id ? 'Reply' : 'Note'} in {experienceName(body.experience)}, sent{' '}
          <RelativeTime time={new Date(note.sentAt)} />
        </span>
      </p>
      <Message text={body.message} id={textId} />
      {standing === 'not_published' && !member && (
        <p class="hint">
          A moderator did not publish this note. Members see the reason and can appeal; guests
          cannot.
        </p>
      )}
      {outcome?.policy && (
        <p>
          Policy: {outcome.policy.replaceAll('_', ' ')}.
          {outcome.message && <> Message from the moderator:</>}
        </p>
      )}
      {outcome?.message && (
        <blockquote class="foreign" dir="auto">
          {outcome.message}
        </blockquote>
      )}
      {note.appealed && standing === 'not_published' && (
        <p class="hint">Your appeal is waiting for a different moderator.</p>
      )}
      <div class="actions">
        {member && !withdrawn && standing !== 'not_published' && (
          <button
            type="button"
            class="button quiet"
            aria-expanded={openForm === 'withdraw'}
            aria-describedby={textId}
            onClick={() => setOpenForm(openForm === 'withdraw' ? undefined : 'withdraw')}
          >
            Withdraw
          </button>
        )}
        {outcome?.appeal_until && (
          <button
            type="button"
            class="button quiet"
            aria-expanded={openForm === 'appeal'}
            aria-describedby={textId}
            onClick={() => setOpenForm(openForm === 'appeal' ? undefined : 'appeal')}
          >
            Appeal
          </button>
        )}
        <button
          type="button"
          class="button quiet"
          aria-describedby={textId}
          onClick={removeFromList}
        >
          Remove from this list
        </button>
      </div>
      {openForm === 'withdraw' && (
        <div class="box row">
          <span>Withdraw this note? It disappears for everyone and cannot be restored.</span>
          <button
            type="button"
            class="button danger"
            aria-describedby={textId}
            onClick={() => void act('withdraw', {}, 'Note withdrawn.')}
          >
            Withdraw it
          </button>
          <button type="button" class="button quiet" onClick={cancel}>
            Keep it
          </button>
        </div>
      )}
      {openForm === 'appeal' && outcome?.appeal_until && (
        <Appeal
          noteId={body.id}
          until={new Date(outcome.appeal_until)}
          onSend={(text) => void act('appeal', { text }, 'Your appeal was sent.')}
        />
      )}
      {failure && (
        <p class="box bad" role="alert">
          {failureText(failure)}
        </p>
      )}
    </div>
  );
}
