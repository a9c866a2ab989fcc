import { useState } from 'preact/hooks';
import { Dialog } from '../../shared/dialog.tsx';
import { Alert } from '../../shared/live-region.tsx';
import { randomUuid } from '../../shared/random.ts';
import { startUndo } from '../decide/undo.ts';
import { saveView } from '../list/saved-views.ts';
import { itemAddress, NO_FILTERS, onPlainClick } from '../queue/address.ts';
import { openItem } from '../queue/navigation.ts';
import { type RewindPreview, toItemId } from '../words/api-model.ts';
import { Failure, toFailure } from '../words/failure.ts';
import { formatTime, plural } from '../words/format.ts';
import { isSubjectType, rewindActionText, truncate } from '../words/labels.ts';
import {
  type Preview,
  previewRewind,
  type Rewound,
  rewindFailureText,
  runRewind,
} from './rewinds.ts';

type Entry = RewindPreview['undo'][number] & { reason?: RewindPreview['left'][number]['reason'] };

const DAY_MS = 86_400_000;
/** A rewind reaches back so far. */
const MAX_DAYS = 31;
/** How many entries of a list are shown. */
const MAX_SHOWN = 100;

const REASON_TEXTS: Record<RewindPreview['left'][number]['reason'], string> = {
  undone: 'undone before',
  superseded: 'no longer in force',
  appealed: 'its author has appealed',
  erased: 'its text is erased',
  author_gone: 'its author is gone',
  second_person_required: 'another lead decides whether it becomes public again',
  not_undoable: 'cannot be undone',
  not_included: 'undo it by itself',
};

interface RewindProps {
  moderator: { id: string; name: string };
  onClose: () => void;
  /** Called after a rewind, so that the audit is read again. */
  onDone: () => void;
}

/** Undoes what a moderator decided since a time: asks for the time, shows a preview, then the result. */
export function Rewind({ moderator, onClose, onDone }: RewindProps) {
  const [since, setSince] = useState(() => toLocal(Date.now() - DAY_MS / 3));
  const [preview, setPreview] = useState<Preview | null>(null);
  const [result, setResult] = useState<Rewound | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const send = async (work: () => Promise<void>) => {
    if (sending) return;
    setSending(true);
    setFault(null);
    try {
      await work();
    } catch (error) {
      setFault(error instanceof Failure ? rewindFailureText(toFailure(error)) : 'Give a time.');
    }
    setSending(false);
  };
  const title = result
    ? `Undone: ${plural(result.undone.length, 'decision')} of ${moderator.name}`
    : preview
      ? `Undo ${plural(preview.undo.length, 'decision')} of ${moderator.name}?`
      : `Rewind ${moderator.name}`;
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="batch">
        {fault && <Alert>{fault}</Alert>}
        {result ? (
          <Result result={result} moderator={moderator} onClose={onClose} />
        ) : preview ? (
          <PreviewStep
            preview={preview}
            sending={sending}
            onBack={() => setPreview(null)}
            onClose={onClose}
            onRun={() =>
              void send(async () => {
                setResult(await runRewind(moderator.id, preview));
                onDone();
              })
            }
          />
        ) : (
          <SinceStep
            since={since}
            sending={sending}
            onSince={setSince}
            onPreview={() =>
              void send(async () =>
                setPreview(await previewRewind(moderator.id, new Date(since).toISOString())),
              )
            }
          />
        )}
      </div>
    </Dialog>
  );
}

interface SinceProps {
  since: string;
  sending: boolean;
  onSince: (since: string) => void;
  onPreview: () => void;
}

function SinceStep({ since, sending, onSince, onPreview }: SinceProps) {
  return (
    <form
      class="policy-form"
      onSubmit={(event) => {
        event.preventDefault();
        onPreview();
      }}
    >
      <div class="field">
        <label for="rewind-since">Since</label>
        <input
          id="rewind-since"
          class="input"
          type="datetime-local"
          required
          value={since}
          min={toLocal(Date.now() - MAX_DAYS * DAY_MS)}
          max={toLocal(Date.now())}
          aria-describedby="rewind-hint"
          onInput={(event) => onSince(event.currentTarget.value)}
        />
        <p class="hint" id="rewind-hint">
          At most {MAX_DAYS} days ago. Nothing is undone before you have seen a preview, and nothing
          becomes public.
        </p>
      </div>
      <div class="row-buttons">
        <button type="submit" class="button primary" aria-disabled={sending ? 'true' : undefined}>
          Preview
        </button>
      </div>
    </form>
  );
}

interface PreviewProps {
  preview: Preview;
  sending: boolean;
  onBack: () => void;
  onClose: () => void;
  onRun: () => void;
}

function PreviewStep({ preview, sending, onBack, onClose, onRun }: PreviewProps) {
  const { since, undo, left } = preview;
  return (
    <>
      <p>
        Since {formatTime(since)}: {plural(undo.length, 'decision')} to undo,{' '}
        {plural(left.length, 'decision')} to leave.
      </p>
      <Entries label="To undo" entries={undo} onClose={onClose} />
      <Entries label="To leave" entries={left} onClose={onClose} />
      <div class="row-buttons">
        {undo.length > 0 && (
          <button
            type="button"
            class="button danger"
            aria-disabled={sending ? 'true' : undefined}
            onClick={onRun}
          >
            Undo {plural(undo.length, 'decision')}
          </button>
        )}
        <button type="button" class="button" onClick={onBack}>
          Choose another time
        </button>
      </div>
    </>
  );
}

/** Puts what would become public again where every lead sees it: a shared view with a count. */
function ForAnotherLead({ moderator }: Pick<RewindProps, 'moderator'>) {
  const [saved, setSaved] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const save = async () => {
    const failure = await saveView({
      name: truncate(`Removed by ${moderator.name}`, 40),
      shared: true,
      view: 'decided',
      filters: { ...NO_FILTERS, decided_by: moderator.id, state: 'removed' },
    });
    setFault(failure && rewindFailureText(failure));
    setSaved(failure === null);
  };
  return (
    <>
      {fault && <Alert>{fault}</Alert>}
      <p role="status">
        {saved
          ? 'All moderators see these removals under Saved, with their number; a lead restores them.'
          : 'Some removals are left for another lead.'}
      </p>
      {!saved && (
        <button type="button" class="button" onClick={() => void save()}>
          Hand them to another lead
        </button>
      )}
    </>
  );
}

interface ResultProps {
  result: Rewound;
  moderator: RewindProps['moderator'];
  onClose: () => void;
}

function Result({ result, moderator, onClose }: ResultProps) {
  const { batchId, undone, left, stopped } = result;
  const words = plural(undone.length, 'decision');
  const undo = () => {
    onClose();
    startUndo({
      kind: 'batch',
      batchId,
      words: `the rewind of ${words}`,
      about: '',
      key: randomUuid(),
    });
  };
  return (
    <>
      {stopped && <Alert>Stopped before the end. {stopped}</Alert>}
      <p>The notes wait in the queue again. Authors who were not notified yet never hear of it.</p>
      <Entries label="Left" entries={left} onClose={onClose} />
      {left.some(({ reason }) => reason === 'second_person_required') && (
        <ForAnotherLead moderator={moderator} />
      )}
      <div class="row-buttons">
        <button type="button" class="button" onClick={undo}>
          Undo
        </button>
      </div>
    </>
  );
}

function Entries({
  label,
  entries,
  onClose,
}: {
  label: string;
  entries: readonly Entry[];
  onClose: () => void;
}) {
  if (entries.length === 0) return null;
  const more = entries.length - MAX_SHOWN;
  return (
    <section>
      <h3>
        {label} ({entries.length})
      </h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll */}
      <ul class="chosen" tabIndex={0} aria-label={label}>
        {entries.slice(0, MAX_SHOWN).map(({ event_id, action, subject, reason }) => (
          <li key={event_id}>
            <span>
              {rewindActionText(action)} <SubjectLink subject={subject} onOpen={onClose} />
              {reason && `: ${REASON_TEXTS[reason] ?? reason}`}
            </span>
          </li>
        ))}
        {more > 0 && <li>and {plural(more, 'more decision')}</li>}
      </ul>
    </section>
  );
}

function SubjectLink({ subject, onOpen }: { subject: Entry['subject']; onOpen: () => void }) {
  const { type, id } = subject;
  const text = `${type.replaceAll('_', ' ')} ${id.slice(0, 8)}`;
  if (!isSubjectType(type)) return <>{text}</>;
  const itemId = toItemId({ type, id });
  return (
    <a
      href={itemAddress(itemId)}
      onClick={onPlainClick(() => {
        onOpen();
        openItem(itemId);
      })}
    >
      {text}
    </a>
  );
}

/** A time as a field for local times has it. */
function toLocal(at: number): string {
  const zone = new Date(at).getTimezoneOffset() * 60_000;
  return new Date(at - zone).toISOString().slice(0, 16);
}
