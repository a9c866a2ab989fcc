import fc from 'fast-check';
import t from 'tap';
import { type NoteCommand, note } from '../../../domain/guestbook/note.ts';
import type { NoteEvents, NoteState } from '../../../domain/guestbook/state.ts';
import type { RecordedEvent } from '../../../platform/eventstore/event.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { tries } from '../../support/sequences.ts';
import * as s from './note-setting.ts';

const PUBLISHES = ['NoteApproved', 'NoteRestored', 'AppealGranted'];
const HIDES = ['NoteRejected', 'NoteRemoved', 'DecisionUndone', 'NoteWithdrawn', 'NoteErased'];

type Event = RecordedEvent<NoteEvents>;

/** Whether a note is public or hidden because of the event; the undo of a keep leaves it public. */
const decidesVisibility = (event: Event): boolean =>
  [...PUBLISHES, ...HIDES].includes(event.type) &&
  !(event.type === 'DecisionUndone' && event.data.decision === 'kept');

const command = fc.record({
  type: fc.constantFrom(...(Object.keys(s.made) as NoteCommand['type'][])),
  by: fc.constantFrom(s.ann, s.bob),
  lead: fc.boolean(),
  stale: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  back: fc.nat({ max: 3 }),
  days: fc.constantFrom(0, 1, 15, 91),
});

t.test('makes a note public only by a decision after the last that hid it', async (t) => {
  let sequences = 0;
  let published = 0;
  const property = fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
    sequences++;
    let state: NoteState = s.after(s.submission);
    const events: Event[] = [];
    for (const { type, by, lead, stale, back, days } of commands) {
      const version = state.status === 'none' ? 0 : state.version;
      const now = days === 0 ? s.later(version + 1) : s.days(days);
      const made = {
        ...s.made[type](stale ? version - 1 : version),
        moderatorId: by,
        now,
        ...(type === 'UndoDecision'
          ? { role: lead ? 'lead' : 'moderator', of: s.eventId(Math.max(1, version - back)) }
          : {}),
      } as NoteCommand;
      const appended = s.recorded(state, made);
      if (isRefusal(appended)) continue;
      events.push(...appended);
      state = appended.reduce(note.evolve, state);
      if (state.status !== 'approved') continue;
      published++;
      const last = events.findLast(decidesVisibility);
      if (!last || !PUBLISHES.includes(last.type)) return false;
    }
    return state.status !== 'none';
  });
  fc.assert(property, tries(5000));
  t.ok(published > sequences / 5, `${sequences} sequences published ${published} times`);
});
