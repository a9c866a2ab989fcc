import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { refuse } from '../refusal.ts';
import { problemFrom } from './problems.ts';

type Kind = 'reads' | 'writes' | 'moderators';

/** The most and the fewest places of each kind, for each connection of the pool. */
const MOST = 10;
const FEWEST = 2;
/** While requests keep their places for longer than this, in milliseconds, there are fewer. */
const MAX_KEPT_MS = 400;
const WARNING_MS = 10_000;

export type Request = IncomingMessage & { params?: object; place?: Place | undefined };

export type Admission = ReturnType<typeof createAdmission>;

/** The place of one request among those that use storage. */
export interface Place {
  /** Takes it, unless it is taken or was left. Throws the problem `overloaded`. */
  enter(): void;
  /** Gives it back until the next `enter`. */
  pause(): void;
  /** Gives it back for good. */
  leave(): void;
}

/**
 * Bounds the requests that use storage at a time, because what a process accepts beyond its capacity
 * waits until its callers have gone (docs/operating/limits.md). A request takes a place when it first
 * needs storage: an answer that needs none costs no more than a refusal. The bound follows how long
 * requests keep their places: with a fixed one, a slow database answers all of them too late. Reads,
 * writes and moderators have separate places, so none of them can take those of another. `isModerators`
 * says whose a request is by its form alone, before anything is proven.
 */
export function createAdmission(
  poolSize: number,
  logger: Logger,
  isModerators: (req: IncomingMessage, path: string) => boolean,
  clock: () => number = () => performance.now(),
) {
  const held = { reads: 0, writes: 0, moderators: 0 };
  const most = MOST * poolSize;
  const places = { reads: most, writes: most, moderators: most };
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;

  /** Adapts the places to what storage can do: additive increase, multiplicative decrease, as in TCP. */
  function adapt(kind: Kind, ms: number): void {
    const { [kind]: now } = places;
    const next = ms > MAX_KEPT_MS ? now * 0.95 : now + 1 / now;
    places[kind] = Math.min(most, Math.max(FEWEST * poolSize, next));
  }

  function placeFor(req: IncomingMessage, path: string): Place {
    const kind = isModerators(req, path) ? 'moderators' : kindOf(req);
    let state: 'outside' | 'inside' | 'left' = 'outside';
    let entered = 0;
    function enter(): void {
      if (state !== 'outside') return;
      if (held[kind] >= places[kind]) {
        refused++;
        warn();
        throw problemFrom(refuse('overloaded'));
      }
      held[kind]++;
      entered = clock();
      state = 'inside';
    }
    function giveBack(next: 'outside' | 'left'): void {
      if (state === 'inside') {
        held[kind]--;
        adapt(kind, clock() - entered);
      }
      if (state !== 'left') state = next;
    }
    return { enter, pause: () => giveBack('outside'), leave: () => giveBack('left') };
  }

  /** One line for many refusals: a line for each would cost more than the refusal. */
  function warn(): void {
    const now = performance.now();
    if (now - warnedAt < WARNING_MS) return;
    logger.warn({ ...held, refused }, 'overloaded');
    warnedAt = now;
    refused = 0;
  }

  return { placeFor };
}

const kindOf = ({ method }: IncomingMessage): Kind =>
  method === 'GET' || method === 'HEAD' ? 'reads' : 'writes';
