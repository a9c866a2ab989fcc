import { call } from '../session/moderation-api.ts';
import { findItem, get, set, withEntry } from '../session/state.ts';
import type { Detail, Item } from '../words/api-model.ts';
import { toPath, withItemId } from '../words/item-ids.ts';
import { needsDecision } from '../words/not-allowed.ts';

/** By item: the request number of the shown version; answers to earlier requests are dropped. */
const shownRequests = new Map<string, number>();
let lastRequest = 0;

/** Returns a new request number, which orders answers by the time of their requests. */
export const nextRequest = (): number => ++lastRequest;

/** Returns the answer, or the shown item if that was requested later. */
export function pickLatest(answer: Item, request: number): Item {
  const shown = findItem(answer.id);
  if (shown && (shownRequests.get(answer.id) ?? 0) > request) return shown;
  shownRequests.set(answer.id, request);
  return answer;
}

export function showItem(item: Item, request: number): void {
  const shown = pickLatest(item, request);
  set({ items: get().items.map((one) => (one.id === item.id ? shown : one)) });
  if (get().linkedId === item.id) set({ linked: shown });
}

/** Reads one item again and replaces it in its row, with thread and history. */
export async function refreshItem(id: string): Promise<void> {
  const request = nextRequest();
  try {
    const body = await call<Partial<Omit<Detail, 'version'>> & { item: Item }>('GET', toPath(id));
    const { thread = [], history = [], history_before = null } = body;
    const item = withItemId(body.item);
    checkLease(item, request);
    showItem(item, request);
    // An earlier request can be answered later.
    if ((get().details.get(id)?.version ?? 0) <= item.version)
      set({
        details: withEntry(get().details, id, {
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
  const shown = get().details.get(id);
  if (!shown?.history_before) return;
  try {
    const earlier = await call<Pick<Detail, 'history' | 'history_before'>>(
      'GET',
      `${toPath(id)}?history_before=${shown.history_before}`,
    );
    // The item may have been read again meanwhile.
    if (get().details.get(id) !== shown) return;
    const history = [...earlier.history, ...shown.history];
    const { history_before } = earlier;
    set({ details: withEntry(get().details, id, { ...shown, history, history_before }) });
  } catch {
    // The button stays; the top bar shows a lost connection.
  }
}

/** Drops a lease that ended with a decision; marks a lease that the service ended as lost. */
function checkLease(item: Item, request: number): void {
  const lease = get().leases.get(item.id);
  if (!lease || item.claim?.mine) return;
  if (get().marks.get(item.id)?.kind === 'deciding') return;
  if (lease.since > request) {
    // The answer to the claim came during this read: the claim may be newer, or may have ended.
    if (!lease.lost) void refreshItem(item.id);
    return;
  }
  const isOver = item.claim === null && !needsDecision(item);
  set({ leases: withEntry(get().leases, item.id, isOver ? undefined : { ...lease, lost: true }) });
}
