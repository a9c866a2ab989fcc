import fc from 'fast-check';
import t from 'tap';
import { type NoteCommand, note } from '../../../domain/guestbook/note.ts';
import { repeatDecisions } from '../../../domain/guestbook/repeat.ts';
import { rewindNote } from '../../../domain/guestbook/rewind.ts';
import {
  type Decision,
  type ExistingNote,
  type NoteEvents,
  type NoteState,
  standingDecision,
} from '../../../domain/guestbook/state.ts';
import type { NewEvent, RecordedEvent } from '../../../platform/eventstore/event.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import {
  decisionsOnNote,
  undoneOnNote,
} from '../../../services/moderation/rewind/moderator-decisions.ts';
import { tries } from '../../support/sequences.ts';
import * as s from './note-setting.ts';

type Event = RecordedEvent<NoteEvents>;

const command = fc.record({
  type: fc.constantFrom(
    ...(Object.keys(s.made).filter((type) => type !== 'SubmitNote') as NoteCommand['type'][]),
  ),
  by: fc.constantFrom(s.ann, s.ann, s.bob),
  lead: fc.boolean(),
  back: fc.nat({ max: 3 }),
  days: fc.constantFrom(0, 0, 0, 1),
});

type One = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

const BATCH = '7b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f67';
const NOW = s.days(20);
const lead = { moderatorId: s.carol, role: 'lead' as const, undoSeconds: 600, now: NOW };

const record = (events: readonly NewEvent<NoteEvents>[], version: number): Event[] =>
  events.map(
    (event, index) =>
      ({
        ...event,
        event_id: s.eventId(version + index + 1),
        stream_version: version + index + 1,
        position: version + index + 1,
        actor: { type: 'moderator', id: s.carol },
        recorded_at: NOW,
      }) as Event,
  );

/** A note after these commands, as far as each is accepted. */
function history(commands: readonly One[]): Event[] {
  const submitted = s.recorded(note.initial, s.submission);
  if (isRefusal(submitted)) throw new Error('not submitted');
  const events = [...submitted];
  for (const { type, by, lead, back, days } of commands) {
    const state = note.replay(events) as ExistingNote;
    const now = days === 0 ? s.later(state.version + 1) : s.days(days);
    const undo = { role: lead ? 'lead' : 'moderator', of: s.eventId(state.version - back) };
    const made = {
      ...s.made[type](state.version),
      moderatorId: by,
      now,
      ...(type === 'UndoDecision' ? undo : {}),
    } as NoteCommand;
    const isReview = 'claimedAt' in made || type === 'UndoDecision';
    const actor = isReview ? { type: 'moderator' as const, id: by } : undefined;
    const appended = s.recorded(state, made, actor);
    if (!isRefusal(appended)) events.push(...appended);
  }
  return events.map((event) => ({ ...event, position: event.stream_version }));
}

function rewindBy(events: readonly Event[]) {
  const before = note.replay(events) as ExistingNote;
  const erased = 'erased' in before && before.erased;
  const decisions = decisionsOnNote(events, s.ann, s.later(0));
  const rewound = rewindNote(before, {
    ...lead,
    decisions,
    undone: undoneOnNote(events),
    erased,
    authorGone: false,
    parent: null,
    batchId: BATCH,
  });
  const made = record(rewound.events, before.version);
  const all = [...events, ...made];
  return { before, decisions, ...rewound, all, after: note.replay(all) as ExistingNote };
}

const isPublic = ({ status }: NoteState) => status === 'approved';

t.test(
  'a rewind lists each decision once, and leaves none in force without a reason',
  async (t) => {
    const seen = new Set<string>();
    const property = fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const { before, after, decisions, undone, left, all } = rewindBy(history(commands));
      for (const { reason } of left) seen.add(reason);
      if (undone.length > 1) seen.add('several');
      const listed = [...undone, ...left.map(({ eventId }) => eventId)].sort();
      const ids = decisions.map(({ eventId }) => eventId).sort();
      if (JSON.stringify(listed) !== JSON.stringify(ids)) return false;
      if (!isPublic(before) && isPublic(after)) return false;
      const standing = standingDecision(after);
      const reason = left.find(({ eventId }) => eventId === standing?.eventId)?.reason;
      const may = ['appealed', 'second_person_required', 'erased', 'superseded'];
      if (standing?.by.id === s.ann && !may.includes(reason ?? '')) return false;
      return rewindBy(all).undone.length === 0;
    });
    fc.assert(property, tries(3000));
    const reasons = ['undone', 'superseded', 'appealed', 'erased', 'second_person_required'];
    for (const reason of [...reasons, 'not_undoable', 'several']) t.ok(seen.has(reason), reason);
  },
);

t.test('a rewind does what one undo after the other does', async () => {
  const property = fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
    const events = history(commands);
    const { before, after, undone } = rewindBy(events);
    let state = before;
    for (const of of undone) {
      const undo = { ...lead, type: 'UndoDecision' as const, expectedVersion: null, of };
      const made = note.decide(state, { ...undo, parent: null, authorGone: false });
      if (isRefusal(made)) return false;
      const { version } = state;
      state = record(made, version).reduce<NoteState>(note.evolve, state) as ExistingNote;
    }
    return JSON.stringify(state) === JSON.stringify(after);
  });
  fc.assert(property, tries(2000));
});

t.test('undoing a rewind restores the state, or leaves what would become public', async (t) => {
  const outcomes = new Set<string>();
  const property = fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
    const { before, after, undone, all } = rewindBy(history(commands));
    if (undone.length === 0) return true;
    const rewind = all.at(-1) as Event;
    const decisions = undone.toReversed().map((id) => {
      const event = all.find(({ event_id }) => event_id === id) as Event;
      const kinds: Record<string, Decision['kind']> = {
        NoteApproved: 'approved',
        NoteRejected: 'rejected',
        NoteEscalated: 'escalated',
        NoteDeferred: 'deferred',
        ReportsDismissed: 'kept',
        AppealGranted: 'granted',
        AppealUpheld: 'upheld',
      };
      const kind = kinds[event.type] as Decision['kind'];
      return { kind, policy: 'spam', message: null, until: s.days(30).toISOString() };
    });
    const repeat = (state: ExistingNote) =>
      repeatDecisions(state, {
        ...lead,
        decisions,
        rewind: { version: rewind.stream_version, leadId: s.carol, at: NOW },
        decidedBy: s.ann,
        batchId: BATCH,
      });
    const made = repeat(after);
    outcomes.add(isRefusal(made) ? String(made.details?.reason) : 'again');
    if (isRefusal(made)) return true;
    const again = record(made, after.version).reduce(note.evolve, after as NoteState);
    if (!isRefusal(repeat(again as ExistingNote))) return false;
    return again.status === before.status && (isPublic(before) || !isPublic(again));
  });
  fc.assert(property, tries(2000));
  t.same([...outcomes].sort(), ['again', 'second_person_required']);
});
