import { useState } from 'preact/hooks';
import { Dialog } from '../../shared/dialog.tsx';
import { Alert } from '../../shared/live-region.tsx';
import { LASTING_FILTERS } from '../queue/address.ts';
import { placeState } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { failureText } from '../words/failure.ts';
import { deleteSavedView, saveShownView, shownSavedView } from './saved-views.ts';

const MAX_NAME_LENGTH = 40;

/** Saves the list as it is filtered under a name, or deletes an own view that is shown. */
export function SaveView() {
  const { filters } = placeState();
  const { me } = connectionState();
  const [asking, setAsking] = useState(false);
  const shown = shownSavedView();
  if (me?.role === 'auditor') return null;
  if (shown?.mine)
    return (
      <button type="button" class="button quiet" onClick={() => void deleteSavedView(shown)}>
        Delete this view
      </button>
    );
  if (shown || !LASTING_FILTERS.some((name) => filters[name] !== '')) return null;
  return (
    <>
      <button type="button" class="button quiet" onClick={() => setAsking(true)}>
        Save view
      </button>
      {asking && <SaveDialog onClose={() => setAsking(false)} />}
    </>
  );
}

function SaveDialog({ onClose }: { onClose: () => void }) {
  const { filters } = placeState();
  const [fault, setFault] = useState<string | null>(null);
  const [sending, setSending] = useState(false);
  const save = async (form: HTMLFormElement) => {
    const data = new FormData(form);
    const name = String(data.get('name') ?? '').trim();
    if (name === '' || sending) return;
    setSending(true);
    const failure = await saveShownView(name, data.get('shared') !== null);
    setSending(false);
    if (failure) return setFault(failureText(failure));
    showToast('View saved', { about: name });
    onClose();
  };
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save(event.currentTarget);
        }}
      >
        <label class="field" for="view-name">
          Name
        </label>
        <input
          id="view-name"
          name="name"
          class="input"
          required
          maxLength={MAX_NAME_LENGTH}
          autoComplete="off"
        />
        <label class="check shared">
          <input type="checkbox" name="shared" />
          Shared with all moderators
        </label>
        {filters.author && <p class="hint">Without the author: no saved view names a person.</p>}
        {fault && <Alert>{fault}</Alert>}
        <div class="row-buttons">
          <button type="submit" class="button primary" disabled={sending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
