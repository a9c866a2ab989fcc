import { randomUuid } from '../../shared/random.ts';
import { type Filters, LASTING_FILTERS, NO_FILTERS, viewAddress } from '../queue/address.ts';
import { showView } from '../queue/navigation.ts';
import { currentList, placeState } from '../queue/queue-state.ts';
import { connectionState } from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { call } from '../session/moderation-api.ts';
import { createState } from '../session/store.ts';
import { isList, type ListView, type SavedView } from '../words/api-model.ts';
import { type Failure, failureText, toFailure } from '../words/failure.ts';

export const savedViewState = createState({
  /** Views that the moderator has saved, or that others share. */
  session: { savedViews: [] as readonly SavedView[] },
});

/** The counts are read again after this time, in a page that is looked at. */
const RECOUNT_MS = 60_000;
let recount: ReturnType<typeof setTimeout> | undefined;

/** Reads the saved views with their counts, and again every minute. */
export async function loadSavedViews(): Promise<void> {
  clearTimeout(recount);
  recount = setTimeout(() => void loadSavedViews(), RECOUNT_MS);
  if (connectionState().session !== 'in' || document.hidden) return;
  try {
    const { views } = await call<{ views: SavedView[] }>('GET', 'views');
    savedViewState.set({ savedViews: views });
  } catch {
    // Keep what is shown; the top bar shows a lost connection.
  }
}

/** The filters of the console that a saved view has. */
export const toFilters = ({ filters }: SavedView): Filters => ({
  ...NO_FILTERS,
  ...Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)])),
});

export const savedAddress = (saved: SavedView): string => viewAddress(saved.view, toFilters(saved));

export const showSavedView = (saved: SavedView): void => showView(saved.view, toFilters(saved));

/** The saved view that the list shows, if any. */
export function shownSavedView(): SavedView | undefined {
  const { view, filters } = placeState();
  const { savedViews } = savedViewState();
  const address = viewAddress(view, filters);
  return isList(view) ? savedViews.find((saved) => savedAddress(saved) === address) : undefined;
}

/** Saves the list as it is shown. Resolves to null, or to the failure. */
export const saveShownView = (name: string, shared: boolean): Promise<Failure | null> =>
  saveView({ name, shared, view: currentList(), filters: placeState().filters });

interface ViewToSave {
  name: string;
  shared: boolean;
  view: ListView;
  filters: Filters;
}

export async function saveView({
  name,
  shared,
  view,
  filters,
}: ViewToSave): Promise<Failure | null> {
  const given = LASTING_FILTERS.filter((filter) => filters[filter] !== '');
  const kept = Object.fromEntries(
    given.map((filter) => [
      filter,
      filter === 'older_than' ? Number(filters[filter]) : filters[filter],
    ]),
  );
  try {
    await call('PUT', `views/${randomUuid()}`, {
      name,
      shared,
      view,
      filters: kept,
    });
    await loadSavedViews();
    return null;
  } catch (error) {
    return toFailure(error);
  }
}

export async function deleteSavedView({ id, name }: SavedView): Promise<void> {
  try {
    await call('DELETE', `views/${id}`);
    showToast('View deleted', { about: name });
    await loadSavedViews();
  } catch (error) {
    showToast(failureText(toFailure(error)), { tone: 'alert' });
  }
}
