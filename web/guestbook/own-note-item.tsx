import { useRef, useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { experienceName } from '../shared/display-names.ts';
import { focusIfLost } from '../shared/field.tsx';
import { Alert } from '../shared/live-region.tsx';
import { foreign } from '../shared/text.tsx';
import { RelativeTime } from '../shared/time.tsx';
import { Tag, type TagProps } from '../site/parts.tsx';
import { Progress } from '../site/write.tsx';
import { Message } from './note-item.tsx';
import type { OwnNote, OwnNotes } from './own-notes-store.ts';
import { Appeal, appealSent, OwnTextForm } from './own-text-form.tsx';
import { type Failure, failureText, needsSignIn } from './problem-text.ts';
import type { Session } from './session.ts';
import { toast } from './toast.tsx';
import { usePolicy } from './use-policy.ts';

interface OwnNoteProps {
  note: OwnNote;
  own: OwnNotes;
  session: Session | undefined;
}

type FormName = 'correct' | 'withdraw' | 'appeal';

export function OwnNoteItem({ note, own, session }: OwnNoteProps) {
  const { body, outcome } = note;
  const [openForm, setOpenForm] = useState<FormName>();
  const [failure, setFailure] = useState<Failure>();
  const busy = useRef(false);
  const textId = `own-${body.id}`;
  const item = useRef<HTMLDivElement>(null);

  async function act(
    action: FormName,
    request: { text?: string; message?: string },
    confirmation: string,
  ): Promise<void> {
    if (busy.current) return;
    busy.current = true;
    const failed = await sendAction(body.id, action, request);
    busy.current = false;
    setFailure(failed);
    if (failed) {
      if (needsSignIn(failed)) session?.end({ showNotice: true });
      return;
    }
    setOpenForm(undefined);
    if (request.message !== undefined) own.corrected(note, request.message);
    if (action === 'appeal') {
      appealSent(body.id);
      own.appealed(body.id);
    }
    await own.check(note);
    toast(confirmation);
    // The pressed button has been removed.
    focusIfLost(item.current);
  }

  function cancel(): void {
    // Back to the button that opened the form.
    item.current?.querySelector<HTMLElement>('button[aria-expanded="true"]')?.focus();
    setOpenForm(undefined);
  }

  return (
    <div class="own-note" ref={item} tabIndex={-1}>
      <NoteMeta note={note} />
      {body.message ? (
        <Message text={body.message} id={textId} />
      ) : (
        <p class="hint" id={textId}>
          The text was erased.
        </p>
      )}
      {outcome?.outcome !== 'withdrawn' && <Progress status={note.standing} />}
      <ReviewResult note={note} />
      <NoteButtons
        note={note}
        textId={textId}
        openForm={openForm}
        onOpen={setOpenForm}
        onRemove={() => removeFromList(own, body.id)}
      />
      {openForm === 'correct' && (
        <OwnTextForm
          label="Your note"
          name="correction"
          text={body.message}
          hint="The former text is erased. A moderator reads the new one."
          emptyError="Write a note."
          sendLabel="Save"
          onSend={(message) => void act('correct', { message }, 'Note corrected.')}
          onCancel={cancel}
        />
      )}
      {openForm === 'withdraw' && (
        <ConfirmWithdrawal
          textId={textId}
          onConfirm={() => void act('withdraw', {}, 'Note withdrawn.')}
          onCancel={cancel}
        />
      )}
      {openForm === 'appeal' && outcome?.appeal_until && (
        <Appeal
          noteId={body.id}
          until={new Date(outcome.appeal_until)}
          onSend={(text) => void act('appeal', { text }, 'Your appeal was sent.')}
        />
      )}
      {failure && <Alert>{failureText(failure)}</Alert>}
    </div>
  );
}

function removeFromList(own: OwnNotes, noteId: string): void {
  own.remove(noteId);
  requestAnimationFrame(() =>
    (document.getElementById('own-title') ?? document.getElementById('content'))?.focus(),
  );
}

/** Resolves to the failure, if any. */
async function sendAction(
  noteId: string,
  action: FormName,
  body: object,
): Promise<Failure | undefined> {
  const answer = await call('POST', `/api/guestbook/${noteId}/${action}`, { body });
  // A retry after a lost answer finds that the appeal has already arrived.
  const alreadyAppealed = answer.kind === 'problem' && answer.details.reason === 'already_appealed';
  return answer.kind === 'ok' || alreadyAppealed ? undefined : answer;
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

function NoteMeta({ note }: { note: OwnNote }) {
  const { body, sentAt } = note;
  return (
    <p class="own-meta">
      <Tag {...toTag(note)} />
      <span>
        {body.parent_id ? 'Reply' : 'Note'} in {experienceName(body.experience)}, sent{' '}
        <RelativeTime time={new Date(sentAt)} />
      </span>
    </p>
  );
}

/** Why a note was not published, and whether an appeal is waiting. */
function ReviewResult({ note: { body, standing, outcome, appealed } }: { note: OwnNote }) {
  const refused = standing === 'not_published';
  const policy = usePolicy(outcome?.policy);
  return (
    <>
      {refused && body.attribution === 'guest' && (
        <p class="hint">
          A moderator did not publish this note. Members see the reason and can appeal; guests
          cannot.
        </p>
      )}
      {policy && (
        <p>
          {outcome?.outcome === 'removed' ? 'Removed' : 'Not published'} under{' '}
          <a href={`/about#policy-${policy.code}`}>{policy.title}</a>
          {policy.text ? `: ${policy.text}` : '.'}
          {outcome?.message && <> Message from the moderator:</>}
        </p>
      )}
      {outcome?.message && (
        <blockquote {...foreign(outcome.message)} class="foreign">
          {outcome.message}
        </blockquote>
      )}
      {appealed && refused && <p class="hint">Your appeal is waiting for a different moderator.</p>}
    </>
  );
}

interface NoteButtonsProps {
  note: OwnNote;
  textId: string;
  openForm: FormName | undefined;
  onOpen: (form: FormName | undefined) => void;
  onRemove: () => void;
}

function NoteButtons({ note, textId, openForm, onOpen, onRemove }: NoteButtonsProps) {
  const { body, standing, outcome } = note;
  const canWithdraw =
    body.attribution === 'member' &&
    outcome?.outcome !== 'withdrawn' &&
    standing !== 'not_published';
  // A note that was sent a moment ago has not been read again yet.
  const canCorrect =
    canWithdraw && standing === 'pending_review' && note.actions?.includes('correct') !== false;
  const canAppeal = Boolean(outcome?.appeal_until);
  const canRemove = body.attribution === 'guest';
  const toggle = (form: FormName) => onOpen(openForm === form ? undefined : form);
  const isPublic = standing === 'published';
  if (!isPublic && !canWithdraw && !canAppeal && !canRemove) return null;
  return (
    <div class="actions">
      {isPublic && (
        <a class="button quiet" href={`/notes/${body.id}`} aria-describedby={textId}>
          Open
        </a>
      )}
      {canRemove && (
        <a class="button quiet" href={`/notes/${body.id}/sent`} aria-describedby={textId}>
          Link to its status
        </a>
      )}
      {canCorrect && (
        <button
          type="button"
          class="button quiet"
          aria-expanded={openForm === 'correct'}
          aria-describedby={textId}
          onClick={() => toggle('correct')}
        >
          Correct
        </button>
      )}
      {canWithdraw && (
        <button
          type="button"
          class="button quiet"
          aria-expanded={openForm === 'withdraw'}
          aria-describedby={textId}
          onClick={() => toggle('withdraw')}
        >
          Withdraw
        </button>
      )}
      {canAppeal && (
        <button
          type="button"
          class="button quiet"
          aria-expanded={openForm === 'appeal'}
          aria-describedby={textId}
          onClick={() => toggle('appeal')}
        >
          Appeal
        </button>
      )}
      {canRemove && (
        <button type="button" class="button quiet" aria-describedby={textId} onClick={onRemove}>
          Forget on this device
        </button>
      )}
    </div>
  );
}

interface ConfirmProps {
  textId: string;
  onConfirm: () => void;
  onCancel: () => void;
}

function ConfirmWithdrawal({ textId, onConfirm, onCancel }: ConfirmProps) {
  return (
    <div class="box row">
      <span>Withdraw this note? It disappears for everyone and cannot be restored.</span>
      <button type="button" class="button danger" aria-describedby={textId} onClick={onConfirm}>
        Withdraw it
      </button>
      <button type="button" class="button quiet" onClick={onCancel}>
        Keep it
      </button>
    </div>
  );
}
