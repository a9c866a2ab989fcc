import { useEffect, useLayoutEffect, useReducer } from 'preact/hooks';
import { Audit } from '../audit/audit.tsx';
import { BatchPreview } from '../decide/batch.tsx';
import { MembershipDialog } from '../decide/membership-dialog.tsx';
import { Toaster } from '../decide/toaster.tsx';
import { Stats } from '../figures/stats.tsx';
import { Note } from '../item/note.tsx';
import { List } from '../list/list.tsx';
import { waitingPrefix } from '../live/notifications.ts';
import { Policies } from '../policies/policies.tsx';
import { readAddress, toAddress } from '../queue/address.ts';
import { closeItem, pushItemEntry } from '../queue/item-view.ts';
import { followHistory } from '../queue/navigation.ts';
import { takeFocusRequest } from '../queue/queue.ts';
import { SearchAll } from '../search/search-all.tsx';
import { currentItem, get, store } from '../session/state.ts';
import { useStore } from '../session/store.ts';
import { isList } from '../words/api-model.ts';
import { authorName, kindBy, VIEW_NAMES } from '../words/labels.ts';
import { plainText } from '../words/marked-text.tsx';
import { Help } from './help.tsx';
import { SignIn } from './sign-in.tsx';
import { TopBar } from './top-bar.tsx';
import { Views } from './views.tsx';

export function Console() {
  const { session, view, linked, counts, compact, open, batch, membership, help, announcement } =
    useStore(store);
  const focused = document.activeElement;
  useLayoutEffect(() => followFocus(focused));
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => redraw(undefined), 20_000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    const back = () => {
      if (get().session === 'out') return;
      const place = readAddress(location);
      const { open, view, filters, linkedId } = get();
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
  const { session, batch, membership, help, focusId, panel } = get();
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
