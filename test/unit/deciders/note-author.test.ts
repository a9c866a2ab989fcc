import t from 'tap';
import { MAX_OPEN_REPORTS } from '../../../domain/guestbook/author-decisions.ts';
import { note } from '../../../domain/guestbook/note.ts';
import { matchAll } from '../../support/match-all.ts';
import * as s from './note-setting.ts';

const { after, outcome, made, undo } = s;
const approve = made.ApproveNote(1);
const reject = made.RejectNote(1);
const approved = after(s.submission, approve);
const rejected = after(s.submission, reject);

t.test('lets its member withdraw a note, also repeatedly', async (t) => {
  const withdraw = made.WithdrawNote(1);
  for (const state of [after(s.submission), approved])
    t.equal(outcome(state, withdraw), 'accepted');
  t.equal(outcome(after(s.submission, withdraw), withdraw), 'nothing');
  t.equal(outcome(approved, { ...withdraw, memberId: s.bob } as never), 'not_found');
  t.equal(outcome(note.initial, withdraw), 'not_found');
});

t.test('shows its author a rejected note as pending while it can be undone', async (t) => {
  const withdraw = (now: Date) => ({ ...made.WithdrawNote(2), now }) as never;
  t.equal(outcome(rejected, withdraw(s.later(601))), 'accepted');
  t.equal(outcome(rejected, withdraw(s.later(602))), 'wrong_state');
  const refusal = (state: typeof approved) => note.decide(state, s.appeal(s.later(601)));
  t.same(
    refusal(rejected),
    refusal(after(s.submission)),
    'an appeal is answered as for a pending note',
  );
  t.equal(outcome(rejected, s.appeal(s.later(602))), 'accepted');
});

t.test('lets its member correct a note that waits and that no moderator holds', async (t) => {
  const pending = after(s.submission);
  const correction = s.correction('Good evening');
  matchAll(t, note.decide(pending, correction), [
    { type: 'NoteCorrected', personal: { message: 'Good evening' } },
  ]);
  t.match(after(s.submission, correction), { status: 'pending', version: 2, reviewVersion: 2 });
  t.equal(outcome(pending, { ...correction, held: true }), 'under_review');
  t.equal(outcome(pending, { ...correction, memberId: s.bob }), 'not_found');
  t.equal(outcome(note.initial, correction), 'not_found');
  t.equal(outcome(pending, { ...correction, current: 'Good evening' }), 'nothing');
  for (const state of [approved, after(s.submission, made.WithdrawNote(1))])
    t.equal(outcome(state, correction), 'wrong_state');
});

t.test(
  'answers a correction within the undo window of a rejection as if it were held',
  async (t) => {
    const correction = (now: Date) => s.correction('Good evening', { now });
    const held = { ...correction(s.later(601)), held: true };
    t.same(
      note.decide(rejected, correction(s.later(601))),
      note.decide(after(s.submission), held),
      'under_review',
    );
    t.equal(outcome(rejected, correction(s.later(602))), 'wrong_state');
  },
);

t.test('allows five corrections, also where a deferral between them is undone', async (t) => {
  const correct = () => s.correction('Good evening');
  const deferred = after(s.submission, correct(), correct(), made.DeferNote(3), correct());
  const undone = s.appended(deferred, undo(4, { expectedVersion: 5 }));
  t.match(undone, { status: 'pending', corrections: 3, deferredUntil: null });
  const all = [correct(), correct()].reduce((state, one) => s.appended(state, one), undone);
  t.equal(outcome(all, correct()), 'correction_limit');
  t.equal(outcome(all, { ...correct(), held: true }), 'under_review');
});

t.test('accepts one report per reporter', async (t) => {
  const report = s.report('spam', s.bob);
  const reported = after(s.submission, approve, report);
  t.match(reported, { reports: { open: [{ member_id: s.bob }], members: [s.bob] } });
  t.equal(outcome(reported, s.report('abuse', s.bob)), 'nothing');
  t.equal(outcome(reported, s.report('spam', s.ann)), 'accepted');
  t.equal(outcome(reported, s.report('spam', null)), 'accepted');
  t.equal(outcome(reported, s.report('spam', null, { repeated: true })), 'nothing');
  for (const state of [note.initial, after(s.submission), rejected])
    t.equal(outcome(state, report), 'not_found');
});

t.test('accepts a report on a reply only while the reply is public', async (t) => {
  const reply = { ...s.submission, parentId: s.parentId, parent: s.parent };
  const state = after(reply, { ...approve, parent: s.parent } as never);
  t.equal(outcome(state, s.report('spam', null, { parent: s.parent })), 'accepted');
  const hidden = { ...s.parent, state: 'removed' };
  t.equal(outcome(state, s.report('spam', null, { parent: hidden })), 'not_found');
});

t.test('keeps a repeated reason silent after a dismissal', async (t) => {
  const kept = [s.submission, approve, s.report('spam', s.bob), made.KeepNote(3)];
  t.match(after(...kept), { reports: { open: [], dismissed: ['spam'] } });
  matchAll(t, note.decide(after(...kept), s.report('spam', s.ann)), [{ data: { silent: true } }]);
  const silent = after(...kept, s.report('spam', s.ann));
  t.match(silent, { reports: { open: [], members: [s.bob, s.ann] } });
  t.equal(outcome(silent, made.KeepNote(5)), 'wrong_state', 'no report is open');
  matchAll(t, note.decide(silent, s.report('abuse', null)), [{ data: { silent: false } }]);
  t.equal(
    outcome(after(...kept), s.report('abuse', s.bob)),
    'nothing',
    'a second report by the same member changes nothing',
  );
});

t.test('keeps the reports that the moderator has seen; later ones stay open', async (t) => {
  const later = s.report('abuse', s.ann, { reportId: s.eventId(9) });
  const reports = [s.report('spam', s.bob), later];
  const two = [s.submission, approve, ...reports];
  matchAll(t, note.decide(after(...two), made.KeepNote(3)), [
    { data: { reports: [{ member_id: s.bob }], open_since: String } },
  ]);
  const kept = after(...two, made.KeepNote(3));
  t.match(kept, { reports: { open: [{ member_id: s.ann }], dismissed: ['spam'] } });
  t.equal(outcome(after(...two), made.RemoveNote(2)), 'accepted');
  t.equal(outcome(kept, made.RemoveNote(4)), 'version_mismatch', 'a decision came after it');
  t.equal(outcome(after(...two), made.RemoveNote(5)), 'version_mismatch', 'no such version');
});

t.test('counts reports of guests beyond fifty open ones instead of recording them', async (t) => {
  const fifty = Array.from({ length: MAX_OPEN_REPORTS }, () => s.report('spam', null));
  const full = after(s.submission, approve, ...fifty);
  t.equal(outcome(full, s.report('abuse', null)), 'nothing');
  t.equal(outcome(full, s.report('spam', s.bob)), 'accepted', 'a member is always recorded');
  const kept = [s.submission, approve, ...fifty, made.KeepNote(2 + MAX_OPEN_REPORTS)];
  t.equal(outcome(after(...kept), s.report('abuse', null)), 'accepted');
  t.equal(outcome(after(...kept, ...fifty), s.report('spam', null)), 'nothing', 'all are silent');
  t.equal(outcome(after(...kept, ...fifty), s.report('abuse', null)), 'accepted');
});

t.test('grants an open appeal when another lead undoes the decision', async (t) => {
  const appealed = after(s.submission, reject, s.appeal(s.days(1)));
  const lead = { expectedVersion: 3, role: 'lead', now: s.days(2) };
  t.equal(outcome(appealed, undo(2, lead)), 'second_person_required');
  t.equal(outcome(appealed, undo(2, { ...lead, role: 'moderator' })), 'undo_expired');
  const early = { ...lead, undoSeconds: 9 * 86_400 };
  t.equal(outcome(appealed, undo(2, early)), 'second_person_required', 'the appeal is open');
  const another = undo(2, { ...lead, moderatorId: s.bob });
  matchAll(t, note.decide(appealed, another), [
    { type: 'DecisionUndone', data: { of: s.eventId(2) } },
    { type: 'AppealGranted', data: { of: s.eventId(2), member_id: s.memberId } },
  ]);
  t.match(after(s.submission, reject, s.appeal(s.days(1)), another), { status: 'approved' });
  const removed = after(s.submission, approve, made.RemoveNote(2), s.appeal(s.days(1)));
  const undone = undo(3, { ...lead, expectedVersion: 4, moderatorId: s.bob });
  matchAll(t, note.decide(removed, undone), [
    { type: 'DecisionUndone' },
    { type: 'AppealGranted' },
  ]);
});

t.test('accepts one appeal against a decision within fourteen days', async (t) => {
  const appealed = after(s.submission, reject, s.appeal(s.days(14)));
  t.match(appealed, { status: 'rejected', appeal: { status: 'open' } });
  t.equal(outcome(appealed, s.appeal(s.days(14))), 'already_appealed');
  t.equal(outcome(rejected, s.appeal(s.days(15))), 'wrong_state');
  t.equal(outcome(rejected, s.appeal(s.days(1), s.bob)), 'not_found');
  t.equal(outcome(approved, s.appeal(s.days(1))), 'wrong_state');
  const removed = after(s.submission, approve, made.RemoveNote(2));
  t.equal(outcome(removed, s.appeal(s.later(4))), 'accepted', 'the author sees a removal at once');
});

t.test('lets another moderator decide on an appeal', async (t) => {
  const appealed = [s.submission, reject, s.appeal(s.days(1))];
  const by = (command: object, moderatorId: string) => ({ ...command, moderatorId }) as never;
  for (const make of [made.GrantAppeal, made.UpholdAppeal])
    t.equal(outcome(after(...appealed), by(make(3), s.ann)), 'second_person_required');
  t.match(after(...appealed, made.GrantAppeal(3)), {
    status: 'approved',
    undoable: { decision: { kind: 'granted' } },
  });
  const upheld = after(...appealed, made.UpholdAppeal(3));
  t.match(upheld, { status: 'rejected', appeal: { status: 'upheld' } });
  t.equal(outcome(upheld, s.appeal(s.days(2))), 'already_appealed');
  t.equal(outcome(upheld, made.GrantAppeal(4)), 'wrong_state');
});

t.test('ends an appeal period without an appeal', async (t) => {
  const end = made.EndAppealPeriod(2);
  t.match(after(s.submission, reject, end), { appeal: { status: 'period_over' } });
  t.equal(outcome(after(s.submission, reject, s.appeal(s.days(1))), end), 'nothing');
  t.equal(outcome(rejected, { ...end, now: s.days(14) } as never), 'nothing');
  t.equal(outcome(approved, end), 'nothing');
});
