import { setColleagues } from '../claims/keep-going.ts';
import { checkClaims, handleClaims } from '../claims/watch-leases.ts';
import { loadPolicies } from '../decide/policy-list.tsx';
import { leaseState } from '../in-progress/leases.ts';
import { panelState } from '../in-progress/panel-state.ts';
import { isDeciding, isEcho } from '../in-progress/sent.ts';
import { countState, setCounts } from '../queue/counts.ts';
import { scheduleSync } from '../queue/list-changes.ts';
import { refreshList, scheduleRefresh } from '../queue/queue.ts';
import { currentList, findItem, placeState, queueState } from '../queue/queue-state.ts';
import { refreshItem } from '../queue/read-item.ts';
import {
  connectionState,
  loseSession,
  nextSignIn,
  sessionNumber,
  setStream,
} from '../session/connection.ts';
import { showToast } from '../session/messages.ts';
import { moderatorHeader, readSignal } from '../session/moderation-api.ts';
import { type Counts, type Subject, toItemId } from '../words/api-model.ts';
import { toQuote } from '../words/labels.ts';

const POLL_MS = 15_000;
const RETRY_MS = 2000;
/** The service pings every 15 seconds, so a connection that is silent for this long is dead. */
const SILENCE_MS = 40_000;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Follows the stream until the page closes. Uses fetch, because an EventSource hides a 401, cannot
 * resume from an event id after it was closed, and never times out on a dead connection.
 */
export async function follow(): Promise<void> {
  let lastId: string | undefined;
  let connectedBefore = false;
  setInterval(() => {
    if (connectionState().stream === 'paused' && connectionState().session === 'in')
      void refreshList();
  }, POLL_MS);
  addEventListener('online', () => reconnect());
  addEventListener('offline', () => disconnect());
  for (;;) {
    if (connectionState().session !== 'in') await nextSignIn().catch(() => undefined);
    const silence = new AbortController();
    const end = () => silence.abort();
    disconnect = end;
    const reads = readSignal();
    if (reads.aborted) end();
    reads.addEventListener('abort', end, { signal: silence.signal });
    let timer = setTimeout(end, SILENCE_MS);
    const resetTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
    };
    const session = sessionNumber();
    try {
      const response = await fetch('/api/moderation/stream', {
        headers: {
          ...moderatorHeader(),
          ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
        },
        cache: 'no-store',
        signal: silence.signal,
      });
      if (response.status === 401) loseSession(session);
      if (response.ok && response.body) {
        setStream('live');
        // The stream omits earlier events, and cannot repair a list that failed to load.
        if (!connectedBefore || queueState().listFault) void refreshList();
        connectedBefore = true;
        for await (const message of messages(response.body, resetTimer)) {
          lastId = message.id ?? lastId;
          handleMessage(message.event, message.data);
        }
      }
    } catch {
      // The connection broke; the loop reconnects.
    }
    clearTimeout(timer);
    end();
    setStream('paused');
    await Promise.race([sleep(RETRY_MS), nextReconnect()]);
  }
}

let disconnect: () => void = () => undefined;
let reconnect: () => void = () => undefined;
const nextReconnect = () =>
  new Promise<void>((resolve) => {
    reconnect = resolve;
  });

interface Message {
  event: string;
  id: string | undefined;
  data: string;
}

/** Parses server-sent events from a response body; calls `resetTimer` for each chunk. */
async function* messages(
  body: ReadableStream<Uint8Array>,
  stirred: () => void,
): AsyncGenerator<Message> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    stirred();
    text += decoder.decode(value, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(part)?.[1];
      const data = field('data');
      if (data !== undefined) yield { event: field('event') ?? 'message', id: field('id'), data };
    }
  }
}

interface QueueMessage {
  type: string;
  subject: Subject;
  version: number | null;
  actor: { type: string; id?: string };
}

function handleMessage(event: string, data: string): void {
  const message = JSON.parse(data);
  if (event === 'claim') handleClaims(message);
  else if (event === 'counts') handleCounts(message);
  else if (event === 'resync') {
    if (message.reason === 'policies') void loadPolicies();
    else void refreshList({ whole: true });
  } else if (event === 'queue') handleQueueChange(message);
}

/** The counts come every few seconds, and alone reveal what time changes, such as an end of a deferral. */
function handleCounts({ colleagues, ...counts }: Counts & { colleagues: number }): void {
  checkClaims();
  setColleagues(colleagues);
  const { items, gone, arrivals, nextCursor } = queueState();
  const { counts: before } = countState();
  const view = currentList();
  setCounts(counts);
  if (view === 'decided' || !before || counts[view] === before[view]) return;
  // An item whose decision is in flight is still in the list, but may already be out of the count.
  const rows = items.filter(({ id }) => !isDeciding(id) && !gone.has(id));
  const shown = rows.length + arrivals.length;
  const complete = nextCursor === null;
  if (complete ? counts[view] !== shown : counts[view] > before[view]) scheduleRefresh();
}

/** Ignores echoes of own decisions. Reads the item again, and its history if it is the current one. */
function handleQueueChange({ type, subject, version, actor }: QueueMessage): void {
  const { me } = connectionState();
  const { focusId } = placeState();
  const { panel } = panelState();
  const itemId = toItemId(subject);
  if (actor.type === 'moderator' && actor.id === me?.id && isEcho(itemId, version)) return;
  const shown = findItem(itemId);
  if (type === 'ClaimTakenOver' && leaseState().leases.has(itemId) && actor.id !== me?.id)
    showToast('A lead took over an item that you had claimed.', {
      tone: 'alert',
      ...(shown ? { about: toQuote(shown) } : {}),
    });
  const isNewer = shown && (version === null || version > shown.version);
  if (isNewer && (itemId === focusId || itemId === panel?.itemId))
    void refreshItem(itemId).then(() => scheduleSync(itemId));
  else scheduleSync(itemId);
}
