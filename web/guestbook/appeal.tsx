import { fullTime } from '../shared/time.tsx';
import { OwnTextForm } from './own-text-form.tsx';

/** Unsent appeals by note id; the form unmounts with its note when the session ends. */
const unsent = new Map<string, string>();

export const appealSent = (noteId: string) => unsent.delete(noteId);

interface AppealProps {
  noteId: string;
  until: Date;
  onSend: (text: string) => void;
}

export function Appeal({ noteId, until, onSend }: AppealProps) {
  return (
    <OwnTextForm
      label="Why should this note appear?"
      name="appeal"
      text={unsent.get(noteId) ?? ''}
      hint={`You can appeal each decision once, until ${fullTime(until)}.`}
      emptyError="Say why this note should appear."
      sendLabel="Send appeal"
      onText={(text) => unsent.set(noteId, text)}
      onSend={onSend}
    />
  );
}
