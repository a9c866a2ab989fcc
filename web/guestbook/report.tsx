import { useState } from 'preact/hooks';
import { type Answer, call } from '../shared/api.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Field } from '../shared/field.tsx';
import { tooLong } from '../shared/text.tsx';
import { issueOf, words } from './problem-text.ts';

const REASONS = [
  ['spam', 'Spam or advertising'],
  ['abuse', 'Abuse or harassment'],
  ['illegal', 'Something illegal'],
  ['privacy', "Somebody's private details"],
  ['impersonation', 'Pretending to be somebody else'],
  ['other', 'Something else'],
] as const;

const DETAILS = 1000;

export function ReportDialog(parts: { noteId: string; onClose: (sent: boolean) => void }) {
  const { noteId, onClose } = parts;
  const [reason, setReason] = useState('');
  const [details, setDetails] = useState('');
  const [missing, setMissing] = useState(false);
  const [answer, setAnswer] = useState<Answer<unknown>>();
  const failure = answer && answer.kind !== 'done' ? answer : undefined;

  async function send(): Promise<void> {
    setMissing(!reason);
    if (!reason || tooLong(details, DETAILS)) return;
    const body = { reason, ...(details.trim() ? { details } : {}) };
    const answered = await call('POST', `/api/guestbook/${noteId}/report`, { body });
    setAnswer(answered);
    if (answered.kind === 'done') onClose(true);
  }

  return (
    <Dialog title="Report this note" onClose={() => onClose(false)}>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>A moderator looks at it. The author is not told who reported it.</p>
        <fieldset class="stack tight">
          <legend class="label">What is wrong with it?</legend>
          {REASONS.map(([value, text]) => (
            <label class="check" key={value}>
              <input
                type="radio"
                name="reason"
                value={value}
                checked={reason === value}
                onChange={() => setReason(value)}
              />
              {text}
            </label>
          ))}
          {missing && !reason && (
            <p class="error" role="alert">
              Choose what is wrong with it.
            </p>
          )}
        </fieldset>
        <Field
          label="Details"
          name="details"
          optional
          rows={3}
          value={details}
          onValue={setDetails}
          most={DETAILS}
          error={tooLong(details, DETAILS) ?? issueOf(failure, 'details')}
        />
        {failure && (
          <p class="box bad" role="alert">
            {words(failure)}
          </p>
        )}
        <div class="row">
          <button type="submit" class="button primary">
            Send report
          </button>
        </div>
      </form>
    </Dialog>
  );
}
