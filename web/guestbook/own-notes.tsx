import { useRef, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { focusOnInstead } from '../shared/focus.ts';
import { Ago } from '../shared/time.tsx';
import { Appeal, appealSent } from './appeal.tsx';
import { EXPERIENCES } from './experience.ts';
import { Message } from './note-item.tsx';
import type { OwnNote, OwnNotes } from './own-notes-store.ts';
import { type Failure, signInNeeded, words } from './problem-text.ts';
import type { Session } from './session.ts';
import { toast } from './toast.tsx';

interface Props {
  own: OwnNotes;
  session: Session | undefined;
}

/** The notes sent from this browser, with their status. */
export function OwnNotesList({ own, session }: Props) {
  if (own.mine.length === 0) return null;
  const waits = own.mine.some(({ standing }) => standing === 'pending_review');
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
      {waits && (
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

const STANDING = {
  pending_review: { class: 'look', word: 'Waiting for review' },
  published: { class: 'good', word: 'Published' },
  not_published: { class: 'bad', word: 'Not published' },
} as const;

function standingOf({ standing, outcome }: OwnNote): { class: string; word: string } {
  if (outcome?.outcome === 'withdrawn') return { class: '', word: 'Withdrawn by you' };
  if (outcome?.outcome === 'removed') return { class: 'bad', word: 'Removed' };
  return STANDING[standing];
}

function OwnNoteItem({ note, own, session }: Props & { note: OwnNote }) {
  const { body, standing, outcome } = note;
  const [asking, setAsking] = useState<'withdraw' | 'appeal'>();
  const [failure, setFailure] = useState<Failure>();
  const busy = useRef(false);
  const member = body.attribution === 'member';
  const gone = outcome?.outcome === 'withdrawn';
  const { class: tone, word } = standingOf(note);
  const text = `own-${body.id}`;
  const item = useRef<HTMLDivElement>(null);
  const place = EXPERIENCES.find(({ id }) => id === body.experience)?.name;

  async function act(action: 'withdraw' | 'appeal', sent: object, done: string): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    const answer = await call('POST', `/api/guestbook/${body.id}/${action}`, { body: sent });
    busy.current = false;
    // A retry after a lost answer finds that the appeal has already arrived.
    const known = answer.kind === 'problem' && answer.details.reason === 'already_appealed';
    if (answer.kind !== 'done' && !known) {
      setFailure(answer);
      if (signInNeeded(answer)) session?.ended({ say: true });
      return;
    }
    setFailure(undefined);
    setAsking(undefined);
    if (action === 'appeal') {
      appealSent(body.id);
      own.update(body.id, { appealed: true });
    }
    await own.check(note);
    toast(done);
    // The pressed button has been removed.
    focusOnInstead(item.current);
  }

  function keep(): void {
    setAsking(undefined);
    item.current?.querySelector('button')?.focus();
  }

  function forget(): void {
    own.remove(body.id);
    requestAnimationFrame(() =>
      (document.getElementById('own-title') ?? document.getElementById('content'))?.focus(),
    );
  }

  return (
    <div class="own-note" ref={item} tabIndex={-1}>
      <p class="own-meta">
        <strong class={`badge ${tone}`}>{word}</strong>
        <span>
          {body.parent_id ? 'Reply' : 'Note'} in {place}, sent <Ago time={new Date(note.sentAt)} />
        </span>
      </p>
      <Message text={body.message} id={text} />
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
        {member && !gone && standing !== 'not_published' && (
          <button
            type="button"
            class="button quiet"
            aria-expanded={asking === 'withdraw'}
            aria-describedby={text}
            onClick={() => setAsking(asking === 'withdraw' ? undefined : 'withdraw')}
          >
            Withdraw
          </button>
        )}
        {outcome?.appeal_until && (
          <button
            type="button"
            class="button quiet"
            aria-expanded={asking === 'appeal'}
            aria-describedby={text}
            onClick={() => setAsking(asking === 'appeal' ? undefined : 'appeal')}
          >
            Appeal
          </button>
        )}
        <button type="button" class="button quiet" aria-describedby={text} onClick={forget}>
          Remove from this list
        </button>
      </div>
      {asking === 'withdraw' && (
        <div class="box row">
          <span>Withdraw this note? It disappears for everyone and cannot be restored.</span>
          <button
            type="button"
            class="button danger"
            aria-describedby={text}
            onClick={() => void act('withdraw', {}, 'Note withdrawn.')}
          >
            Withdraw it
          </button>
          <button type="button" class="button quiet" onClick={keep}>
            Keep it
          </button>
        </div>
      )}
      {asking === 'appeal' && outcome?.appeal_until && (
        <Appeal
          noteId={body.id}
          until={new Date(outcome.appeal_until)}
          onSend={(text) => void act('appeal', { text }, 'Your appeal was sent.')}
        />
      )}
      {failure && (
        <p class="box bad" role="alert">
          {words(failure)}
        </p>
      )}
    </div>
  );
}
