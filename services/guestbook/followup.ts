import { randomUUID } from 'node:crypto';
import { MAX_CORRECTIONS } from '../../domain/guestbook/author-decisions.ts';
import { handle } from '../../platform/eventstore/handle.ts';
import type { Handlers } from '../../platform/http/route.ts';
import { toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { isRefusal, refuse } from '../../platform/refusal.ts';
import { standingDecision } from '../../projections/guestbook/note-decisions.ts';
import { findNoteNow } from '../../projections/guestbook/notes.ts';
import { type OwnNoteRow, ownNotesPage } from '../../projections/guestbook/notes-of-member.ts';
import { bySession } from '../membership/by-session.ts';
import { sessionAuthenticator } from '../membership/sessions.ts';
import { authorCommand, correctCommand, heldNotes, reportCommand } from './author-commands.ts';
import type { GuestbookDeps } from './deps.ts';
import type { followupContract } from './followup-contract.ts';
import {
  NOTES_PER_DAY,
  NOTES_PER_TEN_MINUTES,
  REPORTS_PER_DAY,
  REPORTS_PER_TEN_MINUTES,
} from './limits.ts';
import { noteOutcome } from './outcome.ts';

const RECEIVED = { status: 202 as const, body: { status: 'received' as const } };

export function followupHandlers(deps: GuestbookDeps): Handlers<typeof followupContract> {
  const { store, keys, limits, config } = deps;
  const undoSeconds = config.undoWindowSeconds;
  const authenticate = sessionAuthenticator(store.pool, keys);

  return {
    'guestbook.report': async (call) => {
      const { params, body, request } = call;
      const session = await authenticate(request);
      const isGuest = isRefusal(session);
      return limits.within(call, [REPORTS_PER_TEN_MINUTES, REPORTS_PER_DAY], () => {
        const reporter = isGuest
          ? { buckets: limits.bucketsOf(request.address) }
          : { memberId: session.memberId };
        const { reason, details = null } = body;
        const reported = { reportId: randomUUID(), reporter, reason, details };
        const command = reportCommand(params.id, reported, () => () => RECEIVED);
        return isGuest
          ? handle(store, { type: 'guest' }, command)
          : handle(store, bySession(keys, { ...call, principal: session }), command);
      });
    },

    'guestbook.correct': (call) => {
      const { id } = call.params;
      const { memberId } = call.principal;
      const { message } = call.body;
      const command = correctCommand(id, memberId, message, undoSeconds, (version) => ({
        status: 200 as const,
        body: { status: 'pending_review' as const, id, version },
      }));
      return limits.within(call, [NOTES_PER_TEN_MINUTES, NOTES_PER_DAY], () =>
        handle(store, bySession(keys, call), command),
      );
    },

    'guestbook.withdraw': (call) => {
      const { id } = call.params;
      const { memberId } = call.principal;
      const withdraw = (now: Date) => ({
        type: 'WithdrawNote' as const,
        memberId,
        undoSeconds,
        now,
      });
      const reply = { status: 200 as const, body: { status: 'withdrawn' as const, id } };
      return handle(store, bySession(keys, call), authorCommand(id, withdraw, reply));
    },

    'guestbook.appeal': (call) => {
      const { id } = call.params;
      const { memberId } = call.principal;
      const appealId = randomUUID();
      const appeal = (now: Date) => ({
        type: 'OpenAppeal' as const,
        appealId,
        memberId,
        text: call.body.text,
        undoSeconds,
        now,
      });
      const reply = { status: 202 as const, body: { status: 'appeal_opened' as const, id } };
      return handle(store, bySession(keys, call), authorCommand(id, appeal, reply));
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
