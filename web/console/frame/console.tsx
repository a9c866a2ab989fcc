import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Audit } from '../audit/audit.tsx';
import { BatchPreview } from '../decide/batch-preview.tsx';
import { batchState } from '../decide/batches.ts';
import { MembershipDialog, membershipState } from '../decide/membership-dialog.tsx';
import { Toaster } from '../decide/toaster.tsx';
import { Stats } from '../figures/stats.tsx';
import { panelState } from '../in-progress/panel-state.ts';
import { Note } from '../item/note.tsx';
import { List } from '../list/list.tsx';
import { waitingPrefix } from '../live/notifications.ts';
import { Policies } from '../policies/policies.tsx';
import { readAddress, toAddress } from '../queue/address.ts';
import { countState } from '../queue/counts.ts';
import { closeItem, followHistory, pushItemEntry } from '../queue/navigation.ts';
import { takeFocusRequest } from '../queue/queue.ts';
import { currentItem, placeState, queueState } from '../queue/queue-state.ts';
import { SearchAll } from '../search/search-all.tsx';
import { connectionState } from '../session/connection.ts';
import { messageState } from '../session/messages.ts';
import { settingsState } from '../session/settings.ts';
import { useStates } from '../session/store.ts';
import { isList } from '../words/api-model.ts';
import { authorName, kindBy, VIEW_NAMES } from '../words/labels.ts';
import { plainText } from '../words/marked-text.tsx';
import { Help } from './help.tsx';
import { helpState } from './keys.ts';
import { SignIn } from './sign-in.tsx';
import { TopBar } from './top-bar.tsx';
import { Views } from './views.tsx';

export function Console() {
  const redraw = useStates();
  const { session } = connectionState();
  const { view, open } = placeState();
  const { linked } = queueState();
  const { counts } = countState();
  const { compact } = settingsState();
  const { batch } = batchState();
  const { membership } = membershipState();
  const { help } = helpState();
  const { announcement } = messageState();
  const focused = document.activeElement;
  useLayoutEffect(() => followFocus(focused));
  useEffect(() => {
    const timer = setInterval(redraw, 20_000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    const back = () => {
      if (connectionState().session === 'out') return;
      const place = readAddress(location);
      const { open, view, filters, linkedId } = placeState();
      if (open && toAddress(place) === toAddress({ view, filters, linkedId })) closeItem();
      else followHistory(place);
    };
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, []);
  // Add the history entry before the item is visible; without it, Back would leave the console.
  useLayoutEffect(() => {
    if (open) pushItemEntry();
  }, [open]);
  // With the item and not after it, so that they never disagree.
  useLayoutEffect(() => {
    const place = linked ? `${kindBy(linked)} ${plainText(authorName(linked))}` : VIEW_NAMES[view];
    document.title =
      session === 'out' ? 'Moderation' : `${waitingPrefix(counts)}${place} · Moderation`;
  }, [session, view, linked, counts]);
  return (
    <>
      {session === 'in' || session === 'lost' ? (
        <div class={`console${open && isList(view) ? ' open' : ''}${compact ? ' compact' : ''}`}>
          <TopBar />
          <Views />
          <main class="desk" id="desk">
            <h1 class="visually-hidden">Moderation: {VIEW_NAMES[view]}</h1>
            {isList(view) && <List />}
            {isList(view) && <Note item={currentItem()} />}
            {view === 'search' && <SearchAll />}
            {view === 'stats' && <Stats />}
            {view === 'policies' && <Policies />}
            {view === 'audit' && <Audit />}
          </main>
          <Toaster />
        </div>
      ) : (
        session === 'out' && <SignIn />
      )}
      {session === 'lost' && <SignIn asDialog />}
      {batch && <BatchPreview batch={batch} />}
      {membership && <MembershipDialog member={membership} />}
      {help && <Help />}
      <div class="visually-hidden" role="status" aria-live="polite">
        {announcement}
      </div>
    </>
  );
}

/**
 * Moves the keyboard focus to the current row, or to the item if the list is hidden. Runs when the
 * focus was requested, or when the focused element, such as a button after its use, was removed.
 */
function followFocus(before: Element | null): void {
  const { session } = connectionState();
  const { batch } = batchState();
  const { membership } = membershipState();
  const { help } = helpState();
  const { focusId } = placeState();
  const { panel } = panelState();
  if (session !== 'in' || batch || membership || help) return;
  const lost = !before?.isConnected && document.activeElement === document.body;
  const requested = !panel && takeFocusRequest();
  if (!requested && !lost) return;
  const row = focusId && `row-${focusId}`;
  const places = [panel && 'panel', row, 'note-title', 'list-title', 'page-title'];
  for (const id of places) {
    const place = id ? document.getElementById(id) : null;
    if (!place || place.offsetParent === null) continue;
    place.focus({ preventScroll: id !== `row-${focusId}` });
    place.scrollIntoView({ block: 'nearest' });
    return;
  }
}
