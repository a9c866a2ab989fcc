import { randomUUID } from 'node:crypto';
import { MAX_CORRECTIONS } from '../../domain/guestbook/author-decisions.ts';
import { type Command, mapAnswer } from '../../platform/eventstore/command.ts';
import type { PrincipalOf } from '../../platform/http/principal.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { type Keyed, memberOnce } from '../../platform/idempotent-calls.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/snapshot.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { standingDecision } from '../../projections/guestbook/note-decisions.ts';
import { findNoteNow } from '../../projections/guestbook/notes.ts';
import { type OwnNoteRow, ownNotesPage } from '../../projections/guestbook/notes-of-member.ts';
import { inSession, sessionAuthenticator } from '../membership/sessions.ts';
import { authorCommand, correctCommand, heldNotes, reportCommand } from './author-commands.ts';
import type { GuestbookDeps } from './deps.ts';
import type { aftercareContract } from './followup-contract.ts';
import {
  NOTES_PER_DAY,
  NOTES_PER_TEN_MINUTES,
  REPORTS_PER_DAY,
  REPORTS_PER_TEN_MINUTES,
} from './limits.ts';
import { noteOutcome } from './outcome.ts';

export function aftercareHandlers(deps: GuestbookDeps): Handlers<typeof aftercareContract> {
  const { store, keys, limits, config } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const authenticate = sessionAuthenticator(store.pool, keys);

  /** Runs a member's command under the session, once per idempotency key. */
  async function once<Status extends number, Body, Code extends string>(
    call: Keyed<PrincipalOf<'session'>>,
    command: Command<Body, Code>,
    status: Status,
  ) {
    const keyed = memberOnce(keys, call, command, status);
    const done = await store.execute(inSession(call.principal.sessionId, keyed));
    if (isRefusal(done)) return done;
    const { answer, ...extras } = done;
    return { status, body: answer, ...extras };
  }

  return {
    'guestbook.report': async (call) => {
      const { params, body, request } = call;
      const session = await authenticate(request);
      return limits.within(call, [REPORTS_PER_TEN_MINUTES, REPORTS_PER_DAY], async () => {
        const command = reportCommand(params.id, {
          reportId: randomUUID(),
          reporter: isRefusal(session)
            ? { buckets: limits.bucketsOf(request.address) }
            : { memberId: session.memberId },
          reason: body.reason,
          details: body.details ?? null,
        });
        const reply = { status: 202 as const, body: { status: 'received' } };
        const received = mapAnswer(command, () => reply.body);
        if (!isRefusal(session)) return once({ ...call, principal: session }, received, 202);
        const reported = await store.execute(command);
        return isRefusal(reported) ? reported : reply;
      });
    },

    'guestbook.correct': (call) => {
      const { id } = call.params;
      const command = correctCommand(id, call.principal.memberId, call.body.message, undoSeconds);
      const corrected = mapAnswer(command, (version) => ({
        status: 'pending_review' as const,
        id,
        version,
      }));
      return limits.within(call, [NOTES_PER_TEN_MINUTES, NOTES_PER_DAY], () =>
        once(call, corrected, 200),
      );
    },

    'guestbook.withdraw': (call) => {
      const { id } = call.params;
      const { memberId } = call.principal;
      const command = authorCommand(id, memberId, (now) => ({
        type: 'WithdrawNote',
        memberId,
        undoSeconds,
        now,
      }));
      return once(
        call,
        mapAnswer(command, () => ({ status: 'withdrawn', id })),
        200,
      );
    },

    'guestbook.appeal': (call) => {
      const { id } = call.params;
      const { memberId } = call.principal;
      const appealId = randomUUID();
      const command = authorCommand(id, memberId, (now) => ({
        type: 'OpenAppeal',
        appealId,
        memberId,
        text: call.body.text,
        undoSeconds,
        now,
      }));
      return once(
        call,
        mapAnswer(command, () => ({ status: 'appeal_opened', id })),
        202,
      );
    },

    'guestbook.outcome': async ({ params: { id }, principal }) => {
      const [[row], [decision]] = await snapshot(store.pool, [
        findNoteNow(id),
        standingDecision(id),
      ]);
      if (!row || row.member_id !== principal.memberId) return refuse('not_found');
      return { status: 200, body: noteOutcome(row, decision, undoSeconds) };
    },

    'guestbook.own_notes': async ({ principal, query: { cursor, limit } }) => {
      const place = toKeysetPosition('own notes', cursor);
      if (isRefusal(place)) return place;
      const rows = await query(
        store.pool,
        ownNotesPage(principal.memberId, limit + 1, place, undoSeconds),
      );
      const page = toPage('own notes', rows, limit, (last) => ({
        at: last.place,
        id: last.note_id,
      }));
      const waiting = page.rows.filter(({ state }) => state === 'pending');
      const held =
        waiting.length > 0
          ? await query(store.pool, heldNotes(waiting.map(({ note_id }) => note_id)))
          : [];
      const ids = new Set(held.map(({ note_id }) => note_id));
      const notes = page.rows.map((row) => ownNote(row, ids.has(row.note_id), undoSeconds));
      return { status: 200, body: { status: 'ok', notes, ...page.next } };
    },
  };
}

/**
 * A note in its author's list: a rejection reads as pending until its undo window has ended, like a
 * note that a moderator holds.
 */
function ownNote(row: OwnNoteRow, held: boolean, undoSeconds: number) {
  const outcome = noteOutcome(row, row.standing ?? undefined, undoSeconds);
  const { state, appeal } = row;
  const correctable = state === 'pending' && !held && row.corrections < MAX_CORRECTIONS;
  const actions = [
    ...(correctable ? ['correct' as const] : []),
    ...(outcome.status === 'not_published' ? [] : ['withdraw' as const]),
    ...(outcome.appeal_until ? ['appeal' as const] : []),
  ];
  return {
    id: row.note_id,
    experience: row.experience,
    parent_id: row.parent_id,
    message: row.message,
    state: outcome.status === 'pending_review' ? 'pending' : state,
    outcome,
    appeal: appeal === 'over' ? null : appeal,
    actions,
    submitted_at: row.submitted_at.toISOString(),
    approved_at: row.approved_at?.toISOString() ?? null,
  };
}
