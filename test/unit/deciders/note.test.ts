import t from 'tap';
import { conflict } from '../../../domain/conflict.ts';
import { note } from '../../../domain/guestbook/note.ts';
import { matchAll } from '../../support/match-all.ts';
import * as s from './note-setting.ts';

const { after, outcome, made, undo } = s;
const approve = made.ApproveNote;
const reject = made.RejectNote;
const remove = made.RemoveNote;

const pending = after(s.submission);
const approved = after(s.submission, approve(1));
const rejected = after(s.submission, reject(1));
const removed = after(s.submission, approve(1), remove(2));

t.test('accepts a submission once, by a guest or member, while open', async (t) => {
  matchAll(t, note.decide(note.initial, { ...s.submission, memberId: null, name: 'Ada' }), [
    {
      data: { attribution: 'guest', member_id: null },
      personal: { name: 'Ada', message: 'Good morning' },
    },
  ]);
  t.match(pending, { status: 'pending', version: 1, memberId: s.memberId, tier: 'normal' });
  t.equal(outcome(pending, s.submission), 'submission_conflict');
  t.equal(outcome(note.initial, { ...s.submission, admission: false }), 'admission_closed');
  const reply = { ...s.submission, parentId: s.parentId };
  t.equal(outcome(note.initial, { ...reply, parent: s.parent }), 'accepted');
  for (const parent of [
    null,
    { ...s.parent, state: 'pending' },
    { ...s.parent, parent_id: s.id },
    { ...s.parent, experience: 'observatory' },
  ])
    t.equal(outcome(note.initial, { ...reply, parent }), 'reply_target_unavailable');
});

t.test('accepts each command in its states and refuses it in every other', async (t) => {
  const withdrawn = after(s.submission, made.WithdrawNote(1));
  const states = { none: note.initial, pending, approved, rejected, removed, withdrawn };
  const reported = after(s.submission, approve(1), s.report('spam', null));
  const appealed = after(s.submission, reject(1), s.appeal(s.days(1)));
  const froms: [keyof typeof made, (keyof typeof states)[]][] = [
    ['ApproveNote', ['pending']],
    ['RejectNote', ['pending']],
    ['EscalateNote', ['pending']],
    ['DeferNote', ['pending']],
    ['RemoveNote', ['approved']],
    ['RestoreNote', ['removed']],
    ['KeepNote', []],
    ['GrantAppeal', []],
    ['UpholdAppeal', []],
    ['UndoDecision', ['approved', 'rejected', 'removed']],
  ];
  for (const [type, from] of froms)
    for (const [name, state] of Object.entries(states)) {
      const version = state.status === 'none' ? 0 : state.version;
      const expected = (from as string[]).includes(name) ? 'accepted' : 'wrong_state';
      t.equal(outcome(state, made[type](version)), expected, `${type} from ${name}`);
    }
  t.equal(outcome(reported, made.KeepNote(3)), 'accepted');
  t.equal(outcome(appealed, made.GrantAppeal(3)), 'accepted');
  t.equal(outcome(appealed, made.UpholdAppeal(3)), 'accepted');
});

t.test('requires the current version for a decision', async (t) => {
  t.same(
    note.decide(pending, approve(2)),
    conflict('version_mismatch', { current_state: 'pending', current_version: 1 }),
  );
  t.equal(outcome(approved, remove(1)), 'version_mismatch');
  t.equal(
    outcome(approved, approve(1)),
    'version_mismatch',
    'a version mismatch precedes the state',
  );
  t.equal(outcome(approved, undo(2, { expectedVersion: 1 })), 'version_mismatch');
  t.equal(outcome(approved, undo(2, { expectedVersion: null })), 'accepted');
});

t.test('approves a reply only while its parent is public', async (t) => {
  const reply = after({ ...s.submission, parentId: s.parentId, parent: s.parent });
  t.equal(outcome(reply, approve(1)), 'parent_not_public');
  const hidden = { ...approve(1), parent: { ...s.parent, state: 'removed' } };
  t.equal(outcome(reply, hidden as never), 'parent_not_public');
  matchAll(t, note.decide(reply, { ...approve(1), parent: s.parent } as never), [
    { type: 'NoteApproved', data: { parent_author_id: s.memberId } },
  ]);
});

t.test('keeps escalated and deferred notes pending; a fourth deferral escalates', async (t) => {
  t.match(after(s.submission, made.EscalateNote(1)), { status: 'pending', tier: 'lead' });
  const defer = made.DeferNote;
  const thrice = after(s.submission, defer(1), defer(2), defer(3));
  t.match(thrice, { tier: 'normal', deferrals: 3, deferredUntil: s.days(1) });
  matchAll(t, note.decide(thrice, defer(4)), [
    { type: 'NoteEscalated', data: { cause: 'deferrals' } },
  ]);
  t.match(after(s.submission, defer(1), defer(2), defer(3), defer(4)), {
    tier: 'lead',
    deferredUntil: null,
  });
  const fifth = after(s.submission, defer(1), defer(2), defer(3), defer(4));
  matchAll(
    t,
    note.decide(fifth, defer(5)),
    [{ type: 'NoteEscalated' }],
    'other roles escalate again',
  );
  const lead = { ...defer(5), lead: true } as never;
  matchAll(
    t,
    note.decide(fifth, lead),
    [{ type: 'NoteDeferred' }],
    "a lead's deferral does not escalate",
  );
});

t.test('escalates an old note once, and not before it is due', async (t) => {
  const old = made.EscalateOldNote(1);
  matchAll(t, note.decide(pending, old), [{ type: 'NoteEscalated', data: { cause: 'age' } }]);
  t.equal(outcome(after(s.submission, made.EscalateNote(1)), old), 'nothing');
  t.equal(outcome(approved, old), 'nothing');
  const until = { ...made.DeferNote(1), until: s.days(6) };
  t.equal(outcome(after(s.submission, until as never), old), 'nothing');
});

t.test('undoes the latest decision for its decider in time, for another lead always', async (t) => {
  matchAll(t, note.decide(approved, undo(2)), [
    { data: { of: s.eventId(2), decision: 'approved' } },
  ]);
  t.equal(outcome(approved, undo(2, { now: s.later(602) })), 'undo_expired');
  t.equal(outcome(approved, undo(2, { now: s.later(601) })), 'accepted');
  t.equal(outcome(approved, undo(2, { moderatorId: s.bob })), 'role_required');
  const lead = { moderatorId: s.bob, role: 'lead', now: s.days(80) };
  t.equal(outcome(approved, undo(2, lead)), 'accepted');
  const own = { role: 'lead', now: s.days(80) };
  t.equal(outcome(approved, undo(2, own)), 'second_person_required');
  t.equal(outcome(approved, undo(2, { ...own, now: s.later(600) })), 'accepted');
  t.equal(outcome(approved, undo(1)), 'wrong_state');
  const undone = after(s.submission, reject(1), undo(2));
  t.match(undone, { status: 'pending', version: 3 });
  t.equal(
    outcome(undone, undo(2, { expectedVersion: 3 })),
    'wrong_state',
    'a second undo is refused',
  );
  t.equal(outcome(after(s.submission, reject(1), undo(2), approve(3)), undo(4)), 'accepted');
});

t.test('undoes a deferral for its moderator in time, for a lead later', async (t) => {
  const deferred = after(s.submission, made.DeferNote(1));
  const triage = { role: 'triage' };
  t.equal(outcome(deferred, undo(2, triage)), 'accepted');
  t.equal(outcome(deferred, undo(2, { ...triage, now: s.later(602) })), 'undo_expired');
  t.equal(outcome(deferred, undo(2, { ...triage, moderatorId: s.bob })), 'role_required');
  const bob = { moderatorId: s.bob, now: s.later(602) };
  t.equal(outcome(deferred, undo(2, bob)), 'role_required');
  t.equal(outcome(deferred, undo(2, { ...bob, role: 'lead' })), 'accepted');
  t.equal(
    outcome(deferred, undo(2, { now: s.days(1) })),
    'wrong_state',
    'a due note cannot be undeferred',
  );
  matchAll(t, note.decide(deferred, undo(2)), [
    {
      type: 'DecisionUndone',
      data: { decision: 'deferred', review: { tier: 'normal', deferred_until: null } },
    },
  ]);
  const back = after(s.submission, made.DeferNote(1), undo(2));
  t.match(back, { status: 'pending', version: 3, deferrals: 0, deferredUntil: null });
  t.equal(
    outcome(back, undo(2, { expectedVersion: 3 })),
    'wrong_state',
    'a second undo is refused',
  );
});

t.test('undoes an escalation for its moderator in time, for a lead later', async (t) => {
  const escalated = after(s.submission, made.DeferNote(1), made.EscalateNote(2));
  t.equal(outcome(escalated, undo(3, { role: 'triage' })), 'accepted');
  t.equal(outcome(escalated, undo(3, { now: s.later(603) })), 'undo_expired');
  t.equal(outcome(escalated, undo(3, { moderatorId: s.bob })), 'role_required');
  const lead = { moderatorId: s.bob, role: 'lead', now: s.days(2) };
  t.equal(outcome(escalated, undo(3, lead)), 'accepted');
  t.match(after(s.submission, made.DeferNote(1), made.EscalateNote(2), undo(3)), {
    tier: 'normal',
    deferrals: 1,
    deferredUntil: s.days(1),
  });
  const old = s.appended(pending, made.EscalateOldNote(1), { type: 'service' });
  t.equal(outcome(old, undo(2, lead)), 'wrong_state', 'an automatic escalation cannot be undone');
});

t.test("erases a former member's note when its approval is undone", async (t) => {
  const left = undo(3, { of: s.eventId(2), authorGone: true });
  const reported = after(s.submission, approve(1), s.report('spam', s.bob));
  matchAll(t, note.decide(reported, left), [
    { type: 'DecisionUndone', data: { decision: 'approved' } },
    { type: 'NoteWithdrawn', data: { reports: [{ member_id: s.bob }] } },
    { type: 'NoteErased', data: { cause: 'account_deletion' } },
  ]);
  t.match(after(s.submission, approve(1), undo(2, { authorGone: true })), {
    status: 'withdrawn',
    erased: true,
  });
  const removal = undo(3, { authorGone: true });
  t.match(after(s.submission, approve(1), remove(2), removal), { status: 'approved' });
});

t.test('restores tier, deferrals, approval and reports with an undo', async (t) => {
  const escalated = [s.submission, made.DeferNote(1), made.EscalateNote(2)];
  t.match(after(...escalated, reject(3), undo(4)), { tier: 'lead', deferrals: 1, version: 5 });
  const reported = [s.submission, approve(1), s.report('spam', s.bob)];
  t.match(after(...reported, remove(3)), { status: 'removed', reports: { open: [] } });
  const back = after(...reported, remove(3), undo(4));
  t.match(back, { status: 'approved', reports: { open: [{ member_id: s.bob }] } });
  t.equal(
    outcome(back, undo(6, { of: s.eventId(2) })),
    'accepted',
    'the approval can be undone too',
  );
});

t.test('keeps reports where a decision before they came is undone as well', async (t) => {
  for (const first of [made.DeferNote(1), made.EscalateNote(1)]) {
    const reported = [s.submission, first, approve(2), s.report('spam', null)];
    const undone = after(...reported, undo(3), undo(5, { of: s.eventId(2) }));
    t.match(undone, { status: 'pending', reports: { open: [{ reason: 'spam' }] } });
    t.match(note.decide(undone, reject(6)), [{ type: 'NoteRejected' }]);
  }
});

t.test('lets a lead other than the remover restore a note', async (t) => {
  const restore = { ...made.RestoreNote(3), moderatorId: s.ann };
  t.equal(outcome(removed, restore as never), 'second_person_required');
  const restored = after(s.submission, approve(1), remove(2), made.RestoreNote(3));
  t.match(restored, { status: 'approved', undoable: null });
  t.equal(outcome(restored, undo(4)), 'wrong_state', 'a restoration cannot be undone');
});

t.test('erases text once allowed, and restores no erased note', async (t) => {
  const erase = made.EraseNote(0);
  for (const state of [pending, approved, note.initial]) t.equal(outcome(state, erase), 'nothing');
  const erased = after(s.submission, approve(1), remove(2), erase);
  t.match(erased, { status: 'removed', erased: true });
  t.equal(outcome(erased, erase), 'nothing');
  t.equal(outcome(erased, made.RestoreNote(4)), 'wrong_state');
  const lead = { expectedVersion: 4, of: s.eventId(3), role: 'lead' };
  t.equal(outcome(erased, undo(3, lead)), 'wrong_state');
  t.equal(outcome(erased, s.appeal(s.days(1))), 'wrong_state');
  const appealed = after(s.submission, reject(1), s.appeal(s.days(1)));
  t.equal(outcome(appealed, erase), 'nothing', 'an open appeal keeps the text');
  t.equal(outcome(rejected, erase), 'accepted');
});
