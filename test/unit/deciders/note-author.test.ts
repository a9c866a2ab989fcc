import t from 'tap';
import { note } from '../../../services/guestbook/note.ts';
import { matchAll } from '../../support/match-all.ts';
import * as s from './note-setting.ts';

const { after, outcome, made, undo } = s;
const approve = made.ApproveNote(1);
const reject = made.RejectNote(1);
const approved = after(s.submission, approve);
const rejected = after(s.submission, reject);

t.test('its member withdraws a note, and again without harm', async (t) => {
  const withdraw = made.WithdrawNote(1);
  for (const state of [after(s.submission), approved])
    t.equal(outcome(state, withdraw), 'accepted');
  t.equal(outcome(after(s.submission, withdraw), withdraw), 'nothing');
  t.equal(outcome(approved, { ...withdraw, memberId: s.bob } as never), 'not_found');
  t.equal(outcome(note.initial, withdraw), 'not_found');
});

t.test('a rejection that may still be undone looks to its author as if pending', async (t) => {
  const withdraw = (now: Date) => ({ ...made.WithdrawNote(2), now }) as never;
  t.equal(outcome(rejected, withdraw(s.later(601))), 'accepted');
  t.equal(outcome(rejected, withdraw(s.later(602))), 'wrong_state');
  const refusal = (state: typeof approved) => note.decide(state, s.appeal(s.later(601)));
  t.same(refusal(rejected), refusal(after(s.submission)), 'appealing answers the same');
  t.equal(outcome(rejected, s.appeal(s.later(602))), 'accepted');
});

t.test('one report of each reporter', async (t) => {
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

t.test('a reply is reported only while it can be read', async (t) => {
  const reply = { ...s.submission, parentId: s.parentId, parent: s.parent };
  const state = after(reply, { ...approve, parent: s.parent } as never);
  t.equal(outcome(state, s.report('spam', null, { parent: s.parent })), 'accepted');
  const hidden = { ...s.parent, state: 'removed' };
  t.equal(outcome(state, s.report('spam', null, { parent: hidden })), 'not_found');
});

t.test('what was kept is reported in silence, unless the reason is new', async (t) => {
  const kept = [s.submission, approve, s.report('spam', s.bob), made.KeepNote(3)];
  t.match(after(...kept), { reports: { open: [], dismissed: ['spam'] } });
  matchAll(t, note.decide(after(...kept), s.report('spam', s.ann)), [{ data: { silent: true } }]);
  const silent = after(...kept, s.report('spam', s.ann));
  t.match(silent, { reports: { open: [], members: [s.bob, s.ann] } });
  t.equal(outcome(silent, made.KeepNote(5)), 'wrong_state', 'nothing waits');
  matchAll(t, note.decide(silent, s.report('abuse', null)), [{ data: { silent: false } }]);
  t.equal(outcome(after(...kept), s.report('abuse', s.bob)), 'nothing', 'bob had his say');
});

t.test('a member appeals once against a decision, within fourteen days', async (t) => {
  const appealed = after(s.submission, reject, s.appeal(s.days(14)));
  t.match(appealed, { status: 'rejected', appeal: { status: 'open' } });
  t.equal(outcome(appealed, s.appeal(s.days(14))), 'already_appealed');
  t.equal(outcome(rejected, s.appeal(s.days(15))), 'wrong_state');
  t.equal(outcome(rejected, s.appeal(s.days(1), s.bob)), 'not_found');
  t.equal(outcome(approved, s.appeal(s.days(1))), 'wrong_state');
  const removed = after(s.submission, approve, made.RemoveNote(2));
  t.equal(outcome(removed, s.appeal(s.later(4))), 'accepted', 'a removal is seen at once');
});

t.test('another moderator decides on an appeal', async (t) => {
  const appealed = [s.submission, reject, s.appeal(s.days(1))];
  const by = (command: object, moderatorId: string) => ({ ...command, moderatorId }) as never;
  for (const make of [made.GrantAppeal, made.UpholdAppeal])
    t.equal(outcome(after(...appealed), by(make(3), s.ann)), 'second_person_required');
  t.match(after(...appealed, made.GrantAppeal(3)), { status: 'approved', undoable: null });
  const upheld = after(...appealed, made.UpholdAppeal(3));
  t.match(upheld, { status: 'rejected', appeal: { status: 'upheld' } });
  t.equal(outcome(upheld, s.appeal(s.days(2))), 'already_appealed');
  t.equal(outcome(upheld, made.GrantAppeal(4)), 'wrong_state');
});

t.test('an undone decision takes its appeal with it, and a new one can be appealed', async (t) => {
  const lead = { of: s.eventId(2), lead: true, now: s.days(2) };
  const undone = after(s.submission, reject, s.appeal(s.days(1)), undo(3, lead));
  t.match(undone, { status: 'pending', version: 4 });
  const again = after(s.submission, reject, s.appeal(s.days(1)), undo(3, lead), made.RejectNote(4));
  t.equal(outcome(again, s.appeal(s.days(1))), 'accepted');
});

t.test('the time for an appeal ends where none was made', async (t) => {
  const end = made.EndAppealPeriod(2);
  t.match(after(s.submission, reject, end), { appeal: { status: 'period_over' } });
  t.equal(outcome(after(s.submission, reject, s.appeal(s.days(1))), end), 'nothing');
  t.equal(outcome(rejected, { ...end, now: s.days(14) } as never), 'nothing');
  t.equal(outcome(approved, end), 'nothing');
});
