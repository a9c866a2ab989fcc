import { useState } from 'preact/hooks';
import { call } from '../shared/api.ts';
import { REASON_NAMES } from '../shared/display-names.ts';
import { Field } from '../shared/field.tsx';
import { lengthError, toQuote, UserText } from '../shared/text.tsx';
import { FormDialog, useForm } from './form-dialog.tsx';
import { fieldError } from './problem-text.ts';
import type { Note } from './use-notes.ts';

const MAX_DETAILS_LENGTH = 1000;

/** Ids of the notes reported since the page was opened. */
const reported = new Set<string>();

export const isReported = (noteId: string): boolean => reported.has(noteId);

interface ReportProps {
  note: Note;
  onClose: (sent: boolean) => void;
}

export function ReportDialog({ note, onClose }: ReportProps) {
  const [reason, setReason] = useState('');
  const [details, setDetails] = useState('');
  const state = useForm({
    complete: reason !== '' && !lengthError(details, MAX_DETAILS_LENGTH),
    async send() {
      const body = { reason, ...(details.trim() ? { details } : {}) };
      const answer = await call('POST', `/api/guestbook/${note.id}/report`, { body });
      if (answer.kind !== 'ok') return answer;
      reported.add(note.id);
      onClose(true);
      return undefined;
    },
  });
  const { tried, failure } = state;

  return (
    <FormDialog
      title="Report this note"
      onClose={() => onClose(false)}
      state={state}
      buttons={
        <button type="submit" class="button primary">
          Send report
        </button>
      }
    >
      <blockquote class="foreign" dir="auto">
        <UserText text={toQuote(note.message) || '(no visible text)'} />
        <footer>
          <UserText text={note.name.trim() || 'Guest'} />
        </footer>
      </blockquote>
      <p>A moderator will review this note. The author will not see who reported it.</p>
      <fieldset class="stack tight">
        <legend class="label">What is wrong with this note?</legend>
        {Object.entries(REASON_NAMES).map(([value, text]) => (
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
        {tried && !reason && (
          <p class="error" role="alert">
            Choose a reason.
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
        maxLength={MAX_DETAILS_LENGTH}
        error={lengthError(details, MAX_DETAILS_LENGTH) ?? fieldError(failure, 'details')}
      />
    </FormDialog>
  );
}
