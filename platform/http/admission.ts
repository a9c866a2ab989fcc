import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import { refuse } from '../refusal.ts';
import { MODERATOR_COOKIE } from './principal.ts';
import { problemFrom } from './problems.ts';

type Kind = 'reads' | 'writes' | 'moderators';

/** Requests of each kind that use storage at a time, for each connection of the pool. */
const PLACES: Readonly<Record<Kind, number>> = { reads: 4, writes: 4, moderators: 4 };
/** A crowd that comes at once and is served soon is no overload: so many times the places, so long. */
const BURST = 2.5;
const BURST_MS = 500;
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
 * needs storage: an answer that needs none costs no more than a refusal. Reads, writes and
 * moderators have separate places, so none of them can take those of another. A request is counted
 * as a moderator's by its form alone, since anyone can send such a header.
 */
export function createAdmission(poolSize: number, logger: Logger) {
  const held = { reads: 0, writes: 0, moderators: 0 };
  /** Since when the places of a kind are taken; until half of them are free again. */
  const fullSince: Partial<Record<Kind, number>> = {};
  let refused = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;

  const isFull = (kind: Kind, places: number): boolean => {
    if (held[kind] < places) return false;
    const since = fullSince[kind] ?? performance.now();
    return held[kind] >= BURST * places || performance.now() - since > BURST_MS;
  };

  function placeFor(req: IncomingMessage, path: string): Place {
    const kind = kindOf(req, path);
    const places = Math.ceil(PLACES[kind] * poolSize);
    let state: 'outside' | 'inside' | 'left' = 'outside';
    function enter(): void {
      if (state !== 'outside') return;
      if (isFull(kind, places)) {
        refused++;
        warn();
        throw problemFrom(refuse('overloaded'));
      }
      held[kind]++;
      if (held[kind] >= places) fullSince[kind] ??= performance.now();
      state = 'inside';
    }
    function giveBack(next: 'outside' | 'left'): void {
      if (state === 'inside') held[kind]--;
      if (held[kind] <= places / 2) delete fullSince[kind];
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

function kindOf({ method, headers }: IncomingMessage, path: string): Kind {
  if (path.startsWith('/api/moderation/')) {
    const { authorization = '', cookie = '' } = headers;
    if (/^bearer mod_/i.test(authorization) || cookie.includes(MODERATOR_COOKIE))
      return 'moderators';
  }
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'writes';
}
