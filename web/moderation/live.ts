import { asMyself, sessionLost, sessionNumber, signedInAgain } from './api.ts';
import { isEcho } from './decided-here.ts';
import { heardOfClaims } from './leases.ts';
import { nameOf } from './names.ts';
import { loadPolicies } from './policy-list.ts';
import { refresh, refreshSoon } from './queue.ts';
import { reread } from './reread.ts';
import { get, listView, set } from './state.ts';
import type { Counts, Subject } from './wire.ts';

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
  let begun = false;
  setInterval(() => {
    if (get().stream === 'paused' && get().session === 'in') void refresh();
  }, POLL_MS);
  addEventListener('online', () => wake());
  addEventListener('offline', () => cut());
  for (;;) {
    if (get().session !== 'in') await signedInAgain().catch(() => undefined);
    const silence = new AbortController();
    const end = () => silence.abort();
    cut = end;
    let timer = setTimeout(end, SILENCE_MS);
    const stirred = () => {
      clearTimeout(timer);
      timer = setTimeout(end, SILENCE_MS);
    };
    const asked = sessionNumber();
    try {
      const response = await fetch('/api/moderation/stream', {
        headers: { ...asMyself(), ...(lastId === undefined ? {} : { 'last-event-id': lastId }) },
        cache: 'no-store',
        signal: silence.signal,
      });
      if (response.status === 401) sessionLost(asked);
      if (response.ok && response.body) {
        set({ stream: 'live' });
        // The stream omits earlier events, and cannot repair a list that failed to load.
        if (!begun || get().listFault) refreshSoon();
        begun = true;
        for await (const message of messages(response.body, stirred)) {
          lastId = message.id ?? lastId;
          heard(message.event, message.data);
        }
      }
    } catch {
      // The connection broke; the loop reconnects.
    }
    clearTimeout(timer);
    set({ stream: 'paused' });
    await Promise.race([sleep(RETRY_MS), woken()]);
  }
}

let cut: () => void = () => undefined;
let wake: () => void = () => undefined;
const woken = () =>
  new Promise<void>((resolve) => {
    wake = resolve;
  });

interface Message {
  event: string;
  id: string | undefined;
  data: string;
}

/** Parses server-sent events from a response body; calls `stirred` for each chunk. */
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

interface QueueNews {
  subject: Subject;
  version: number | null;
  actor: { type: string; id?: string };
}

function heard(event: string, data: string): void {
  const news = JSON.parse(data);
  if (event === 'claim') heardOfClaims(news);
  else if (event === 'counts') heardOfCounts(news);
  else if (event === 'resync') {
    if (news.reason === 'policies') void loadPolicies();
    else void refresh();
  } else if (event === 'queue') heardOfItem(news);
}

/** Only the counts reveal changes caused by time, such as the end of a deferral. */
function heardOfCounts(counts: Counts): void {
  const { counts: before, items, marks, nextCursor } = get();
  const view = listView();
  set({ counts });
  if (view === 'decided' || !before || counts[view] === before[view]) return;
  // An item whose decision is in flight is still in the list, but may already be out of the count.
  const shown = items.filter(({ id }) => marks.get(id)?.kind !== 'deciding').length;
  const whole = nextCursor === null;
  if (counts[view] > before[view] || (whole && counts[view] < shown)) refreshSoon();
}

/** Ignores echoes of own decisions. Other news reloads the list, and the item if it is current. */
function heardOfItem({ subject, version, actor }: QueueNews): void {
  const { me, items, focusId, panel } = get();
  const name = nameOf(subject);
  if (actor.type === 'moderator' && actor.id === me?.id && isEcho(name, version)) return;
  const known = items.find(({ id }) => id === name);
  if (known && (version === null || version > known.version)) {
    if (name === focusId || name === panel?.itemId) {
      void reread(name).then(() => refreshSoon());
      return;
    }
  }
  refreshSoon();
}
