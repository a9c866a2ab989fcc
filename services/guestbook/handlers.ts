import type { PrincipalOf } from '../../platform/http/principal.ts';
import {
  type HandlerOutcome,
  type Handlers,
  implement,
  type RequestContext,
  type Routes,
} from '../../platform/http/route.ts';
import { toKeysetPosition } from '../../platform/keyset-cursor.ts';
import { createCoalescer } from '../../platform/postgres/coalescer.ts';
import { OutcomeUnconfirmed } from '../../platform/postgres/errors.ts';
import { query } from '../../platform/postgres/query.ts';
import { enterStorage } from '../../platform/postgres/request-deadline.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { findNote, findNoteWithParent, isPublic } from '../../projections/guestbook/notes.ts';
import { sessionAuthenticator } from '../membership/sessions.ts';
import { guestbookContract, type NoteSubmission } from './contract.ts';
import type { GuestbookDeps } from './deps.ts';
import { followupHandlers } from './followup.ts';
import { GUEST_NOTES_PER_HOUR, NOTES_PER_DAY, NOTES_PER_TEN_MINUTES } from './limits.ts';
import { firstPages, noteBody, notesList, readGuestbook } from './read.ts';
import { submitNote } from './submit.ts';

function guestbookHandlers(deps: GuestbookDeps): Handlers<typeof guestbookContract> {
  const { store, keys, limits, config, readPool } = deps;
  const authenticate = sessionAuthenticator(store.pool, keys);
  const noteLimits = [NOTES_PER_TEN_MINUTES, NOTES_PER_DAY] as const;

  /** The session of the member whose handle the note names, or null for a guest's note. */
  async function authorOf(
    body: NoteSubmission,
    request: RequestContext,
  ): Promise<PrincipalOf<'session'> | null | Refusal<'session_required'>> {
    if (body.attribution === 'guest') return null;
    const session = await authenticate(request);
    if (isRefusal(session)) return session;
    return session.handle === body.member_handle ? session : refuse('session_required');
  }

  // Concurrent reads of one page share its rows and its bytes.
  const reading = createCoalescer<HandlerOutcome<(typeof guestbookContract)['guestbook.read']>>();
  const firstPage = firstPages(readPool);

  return {
    ...followupHandlers(deps),

    'guestbook.read': async ({ query: asked }) => {
      const { experience, parent_id } = asked;
      const before = toKeysetPosition(notesList(asked), asked.before);
      if (isRefusal(before)) return before;
      if (!parent_id && !before) return reading(experience, () => firstPage(experience));
      // Callers can ask for as many of these pages as they like, so each request takes a place.
      enterStorage();
      const page = [experience, parent_id, before?.at, before?.id].join();
      return reading(page, () => readGuestbook(readPool, { experience, parent_id, before }));
    },

    'guestbook.get': async ({ params: { id } }) => {
      const [row] = await query(readPool, findNoteWithParent(id));
      if (!row || !isPublic(row)) return refuse('not_found');
      return { status: 200, body: { status: 'ok', note: noteBody(row) } };
    },

    'guestbook.submit': async (call) => {
      const { body, request } = call;
      const author = await authorOf(body, request);
      if (isRefusal(author)) return author;
      // Only a new note counts against the limits. The command finally decides whether the note is
      // new, and it also answers a repeated note when the limits are used up.
      const open = config.guestbookOpen;
      const counters = author ? noteLimits : [...noteLimits, GUEST_NOTES_PER_HOUR];
      const taken = open ? await limits.take(call, counters, findNote(body.id)) : undefined;
      const counted = taken?.counted;
      const answer = await submitNote(deps, body, author, {
        limited: open && !counted,
        address: author ? undefined : limits.networkBucketOf(request.address),
      }).catch((error: unknown) => {
        // Give the count back without waiting: the request's storage deadline may have passed.
        if (counted && !(error instanceof OutcomeUnconfirmed))
          void limits.giveBackLater(call, counters);
        throw error;
      });
      if (counted && (isRefusal(answer) || answer.status === 200)) {
        await limits.giveBack(call, counters);
        return answer;
      }
      if (!taken) return answer;
      const { headers, details } = taken;
      return isRefusal(answer) && answer.refused === 'rate_limited' && details
        ? { ...answer, details, headers }
        : { ...answer, headers };
    },
  };
}

export const routes = (deps: GuestbookDeps): readonly Routes[] => [
  implement(guestbookContract, guestbookHandlers(deps)),
];
