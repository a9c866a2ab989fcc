import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { Handlers, Outcome, RequestFacts } from '../../platform/http/route.ts';
import type { Limit } from '../../platform/limits/rate-limits.ts';
import { OutcomeUnconfirmed } from '../../platform/postgres/errors.ts';
import { isRefusal, type Refusal, refuse } from '../../platform/refusal.ts';
import { findNote } from '../../projections/guestbook/notes.ts';
import { sessionAuthenticator } from '../membership/sessions.ts';
import { coalesce } from './coalesce.ts';
import type { guestbookContract, NoteSubmission } from './contract.ts';
import { aftercareHandlers } from './followup.ts';
import type { GuestbookParts } from './parts.ts';
import { firstPages, readGuestbook } from './read.ts';
import { submitPlan } from './submit.ts';

export function guestbookHandlers(parts: GuestbookParts): Handlers<typeof guestbookContract> {
  const { store, keys, limits, config, readPool } = parts;
  const authenticate = sessionAuthenticator(store.pool, keys);
  const noteLimits: readonly Limit[] = [
    { kind: 'notes-10m', window: '10 minutes', limit: config.limitNotesPerTenMinutes },
    { kind: 'notes-day', window: '1 day', limit: config.limitNotesPerDay },
  ];

  /** The session of a member's note, which must be that member's; null for a guest's. */
  async function authorOf(
    body: NoteSubmission,
    request: RequestFacts,
  ): Promise<PrincipalOf<'session'> | null | Refusal<'session_required'>> {
    if (body.attribution === 'guest') return null;
    const session = await authenticate(request);
    if (isRefusal(session)) return session;
    return session.handle === body.member_handle ? session : refuse('session_required');
  }

  // Those who read one page at once share its rows and its bytes.
  const reading = coalesce<Outcome<(typeof guestbookContract)['guestbook.read']>>();
  const firstPage = firstPages(readPool);

  return {
    ...aftercareHandlers(parts),

    'guestbook.read': async ({ query: asked }) => {
      const { experience, parent_id, before } = asked;
      if (!parent_id && !before) return reading(experience, () => firstPage(experience));
      const page = [experience, parent_id, before?.at, before?.id].join();
      return reading(page, () => readGuestbook(readPool, asked));
    },

    'guestbook.submit': async ({ body, request }) => {
      const author = await authorOf(body, request);
      if (isRefusal(author)) return author;
      // Only a new note counts; the command decides in the end whether it was one, and answers the
      // repeat of an old one also where the limits are used up.
      const open = config.guestbookOpen;
      const counted = open && (await limits.take(request.address, noteLimits, findNote(body.id)));
      const plan = submitPlan(parts, body, author, open && !counted);
      const answer = await store.execute(plan).catch((error: unknown) => {
        // The caller waits no longer for it: the request's patience may be used up.
        if (counted && !(error instanceof OutcomeUnconfirmed))
          void limits.giveBackLater(request.address, noteLimits);
        throw error;
      });
      if (counted && (isRefusal(answer) || answer.status === 200))
        await limits.giveBack(request.address, noteLimits);
      return answer;
    },
  };
}
