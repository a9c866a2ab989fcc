import { checkLease } from '../in-progress/leases.ts';
import { call, nextRequest } from '../session/moderation-api.ts';
import { createState, withEntry } from '../session/store.ts';
import { type Detail, type Item, toPath, withItemId } from '../words/api-model.ts';
import { findItem, placeState, queueState } from './queue-state.ts';

export const detailState = createState({
  view: { details: new Map() as ReadonlyMap<string, Detail> },
});

/** By item: the request number of the shown version; answers to earlier requests are dropped. */
const shownRequests = new Map<string, number>();

/** Returns the answer, or the shown item if that was requested later. */
export function pickLatest(answer: Item, request: number): Item {
  const shown = findItem(answer.id);
  if (shown && (shownRequests.get(answer.id) ?? 0) > request) return shown;
  shownRequests.set(answer.id, request);
  return answer;
}

export function showItem(item: Item, request: number): void {
  const shown = pickLatest(item, request);
  queueState.set({ items: queueState().items.map((one) => (one.id === item.id ? shown : one)) });
  if (placeState().linkedId === item.id) queueState.set({ linked: shown });
}

/** Reads one item again and replaces it in its row, with thread and history. */
export async function refreshItem(id: string): Promise<void> {
  const request = nextRequest();
  try {
    const body = await call<Partial<Omit<Detail, 'version'>> & { item: Item }>('GET', toPath(id));
    const { thread = [], history = [], history_before = null } = body;
    const item = withItemId(body.item);
    if (checkLease(item, request)) void refreshItem(id);
    showItem(item, request);
    // An earlier request can be answered later.
    if ((detailState().details.get(id)?.version ?? 0) <= item.version)
      detailState.set({
        details: withEntry(detailState().details, id, {
          thread,
          history,
          history_before,
          version: item.version,
        }),
      });
  } catch {
    // Keep the shown item; the top bar shows a lost connection.
  }
}

/** Puts the events before those shown in front of them. */
export async function loadEarlierHistory(id: string): Promise<void> {
  const shown = detailState().details.get(id);
  if (!shown?.history_before) return;
  try {
    const earlier = await call<Pick<Detail, 'history' | 'history_before'>>(
      'GET',
      `${toPath(id)}?history_before=${shown.history_before}`,
    );
    // The item may have been read again meanwhile.
    if (detailState().details.get(id) !== shown) return;
    const history = [...earlier.history, ...shown.history];
    const { history_before } = earlier;
    detailState.set({
      details: withEntry(detailState().details, id, { ...shown, history, history_before }),
    });
  } catch {
    // The button stays; the top bar shows a lost connection.
  }
}
