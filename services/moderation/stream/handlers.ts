import type pg from 'pg';
import { whenAborted } from '../../../platform/concurrency.ts';
import { FIRST_EPOCH } from '../../../platform/eventstore/log-epochs.ts';
import type { LogWatch } from '../../../platform/eventstore/log-watch.ts';
import { eventsBetween } from '../../../platform/eventstore/subscription.ts';
import type { PrincipalOf } from '../../../platform/http/principal.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import type { WaitingPlaces } from '../../../platform/limits/waiting-places.ts';
import { StorageUnavailable } from '../../../platform/postgres/errors.ts';
import { query } from '../../../platform/postgres/query.ts';
import { withDeadline } from '../../../platform/postgres/request-deadline.ts';
import { refuse } from '../../../platform/refusal.ts';
import { type ConsoleSubscription, type ConsolesDeps, createConsoles } from './consoles.ts';
import { EVENT_STREAM, type streamContract } from './contract.ts';
import { type Message, queued, resync } from './messages.ts';

const PING_MS = 15_000;
const PING: Message = ': ping\n\n';
const RETRY_MS = 2000;
/** A console that missed more positions of the log than this has to read the queue again. */
const MAX_MISSED = 5000;
/** A console with more unsent messages than this has to read the queue again, too. */
const MAX_UNSENT = 1000;

const TOO_MANY_STREAMS = 'Too many streams are open already.';

export interface StreamDeps extends ConsolesDeps {
  places: WaitingPlaces;
  logWatch: Pick<LogWatch, 'isLost'>;
  /** Aborted when the process is about to exit. */
  ending: AbortSignal;
  pingMs?: number;
}

export function streamHandlers(deps: StreamDeps): Handlers<typeof streamContract> {
  const consoles = createConsoles(deps);
  return {
    'moderation.stream': async ({ principal, request }) => {
      if (deps.logWatch.isLost()) throw new StorageUnavailable('acknowledged writes may be lost');
      const place = deps.places.take({ kind: 'moderator', id: principal.moderatorId });
      if (typeof place === 'string') {
        const { perHolder, total } = deps.places.limits;
        const limit = place === 'full' ? total : perHolder;
        return refuse('rate_limited', { message: TOO_MANY_STREAMS, limit });
      }
      // Free the place here and not in `follow`, which never runs for a HEAD request.
      const gone = request.gone();
      whenAborted(gone, place.leave);
      const over = AbortSignal.any([gone, deps.ending]);
      // Join before the response begins: a client that reads the queue after it has the headers
      // misses nothing.
      const inbox = createInbox(over);
      const { watch, leave } = await consoles.join({ me: principal, ...inbox });
      whenAborted(over, leave);
      return {
        status: 200,
        type: EVENT_STREAM,
        headers: { 'x-accel-buffering': 'no' },
        stream: follow(deps, { watch, leave }, inbox, principal, request.lastEventId),
      };
    },
  };
}

/** The messages that were not yet sent to one console, until it is `over`. */
function createInbox(gone: AbortSignal) {
  let unsent: Message[] = [];
  let over = false;
  let slow = false;
  let stirred: () => void = () => undefined;
  const end = () => {
    over = true;
    stirred();
  };
  whenAborted(gone, end);
  return {
    send(message: Message) {
      slow ||= unsent.length >= MAX_UNSENT;
      if (slow) unsent = [];
      else unsent.push(message);
      stirred();
    },
    end,
    /** Waits for messages and takes them; undefined once it is over. */
    async take(): Promise<Message[] | 'slow' | undefined> {
      while (!over) {
        const messages = slow ? 'slow' : unsent;
        unsent = [];
        slow = false;
        if (messages.length > 0) return messages;
        await new Promise<void>((resolve) => {
          stirred = resolve;
        });
      }
      return undefined;
    },
  };
}

async function* follow(
  { pool, pingMs = PING_MS }: StreamDeps,
  { watch, leave }: { watch: ConsoleSubscription; leave: () => void },
  inbox: ReturnType<typeof createInbox>,
  me: PrincipalOf<'moderator'>,
  lastEventId: string | undefined,
): AsyncGenerator<string> {
  // Ping at a fixed interval and not after silence: counts alone are more frequent than the pings.
  const pings = setInterval(() => inbox.send(PING), pingMs);
  try {
    yield `retry: ${RETRY_MS}\n\n`;
    const missed = lastEventId === undefined ? [] : await missedSince(pool, watch, lastEventId);
    yield [...missed, ...watch.present(me)].join('');
    for (let messages = await inbox.take(); messages; messages = await inbox.take())
      yield (messages === 'slow' ? [resync(watch.id(), 'slow')] : messages).join('');
  } finally {
    clearInterval(pings);
    leave();
  }
}

async function missedSince(
  pool: pg.Pool,
  watch: ConsoleSubscription,
  lastEventId: string,
): Promise<Message[]> {
  // Before there were epochs, an id was a position.
  const [, epoch = FIRST_EPOCH, position = Infinity] =
    /^(?:(\d{1,15})\.)?(\d{1,15})$/.exec(lastEventId) ?? [];
  const from = Number(epoch) === watch.epoch() ? Number(position) : Infinity;
  const last = watch.last();
  if (from > last || last - from > MAX_MISSED) return [resync(watch.id(), 'gap')];
  const rows = await withDeadline(() => query(pool, eventsBetween(from, last)));
  return rows.flatMap((event) => queued(event, watch.id(event.position)) ?? []);
}
