import { wrongState } from '../../../domain/conflict.ts';
import { repeatDecisions } from '../../../domain/guestbook/repeat.ts';
import type { Decision as NoteDecision } from '../../../domain/guestbook/state.ts';
import { LEADS } from '../../../domain/moderation/roles.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { type Command, defineCommand } from '../../../platform/eventstore/handle.ts';
import { isRefusal, type Refusal, refuse } from '../../../platform/refusal.ts';
import type { DecisionRow } from '../../../projections/guestbook/note-decisions.ts';
import type { ActiveModerator } from '../staff/by-moderator.ts';
import { type DecideRefusal, MAX_DECISIONS } from './contract.ts';
import { membersConcerned } from './decide-rows.ts';
import {
  type DecidedNote,
  type DeskOptions,
  isGone,
  notesLoad,
  type OpenNote,
  openDesk,
  type Result,
} from './desk.ts';

/** How many rows to read for a page: one more than it has, to find whether its last note is complete. */
export const REWOUND_ROWS = MAX_DECISIONS + 1;

/** The decisions of whole notes that one request makes again, and the note after which the next begins. */
export function toRewoundPage(rows: readonly DecisionRow[]) {
  const beyond = rows.length < REWOUND_ROWS ? undefined : rows.at(-1)?.note_id;
  const notes = Map.groupBy(
    rows.filter(({ note_id }) => note_id !== beyond),
    ({ note_id }) => note_id,
  );
  return { notes, next: beyond === undefined ? null : ([...notes.keys()].at(-1) ?? null) };
}

/** Undoes a rewind, note by note: makes the decisions again that it undid. */
export function repeatCommand<Reply>(
  batchId: string,
  decisions: ReadonlyMap<string, readonly DecisionRow[]>,
  options: DeskOptions,
  reply: (results: [noteId: string, Result][]) => Reply,
): Command<Reply, 'role_required', ActiveModerator> {
  const ids = [...decisions.keys()];
  return defineCommand({
    find: membersConcerned(ids),
    load: { notes: notesLoad(ids) },
    decide({ notes }, now, me: ActiveModerator) {
      if (!LEADS.includes(me.role)) return refuse('role_required', { roles: LEADS });
      const desk = openDesk(me, notes, now, options);
      const made = new Map<string, DecidedNote | Refusal<DecideRefusal>>();
      for (const [noteId, undone] of decisions) {
        const opened = desk.open(noteId);
        const events = opened && repeatOn(opened, undone, batchId, options);
        if (!opened || !events) made.set(noteId, refuse('not_found'));
        else made.set(noteId, isRefusal(events) ? events : desk.accept(opened, events));
      }
      const { writes, resultOn } = desk.settle(made);
      return { ...writes, reply: (events) => reply(ids.map((id) => [id, resultOn(id, events)])) };
    },
  });
}

function repeatOn(
  { row, events, before, facts: { me, now } }: OpenNote,
  undone: readonly DecisionRow[],
  batchId: string,
  { undoSeconds }: DeskOptions,
) {
  const rewind = events.findLast(
    ({ type, data }) =>
      type === 'DecisionUndone' && (data as { batch_id?: string }).batch_id === batchId,
  );
  if (!rewind || before.status === 'none' || isGone(row))
    return wrongState({ ...row, status: row.state });
  return repeatDecisions(before, {
    decisions: undone.map(({ event_id, decision, policy, message }) => ({
      kind: decision as NoteDecision['kind'],
      policy,
      message,
      until: deferredUntil(events, event_id),
    })),
    rewind: {
      version: rewind.stream_version,
      leadId: rewind.actor.id ?? '',
      at: rewind.recorded_at,
    },
    decidedBy: undone[0]?.moderator_id ?? null,
    moderatorId: me.moderatorId,
    role: me.role,
    batchId,
    undoSeconds,
    now,
  });
}

function deferredUntil(events: readonly RecordedEvent[], eventId: string): string | null {
  const event = events.find(({ event_id }) => event_id === eventId);
  return (event?.data as { until?: string } | undefined)?.until ?? null;
}
