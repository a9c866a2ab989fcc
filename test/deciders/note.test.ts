import t from 'tap';
import { isRefusal, replay } from '../../services/eventstore/decider.ts';
import { type NoteCommand, type NoteState, note } from '../../services/notes/note.ts';

const id = '0b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f60';
const parentId = '1c8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f61';
const memberId = '2d8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f62';
const decision = '01890000-0000-7000-8000-000000000001';
const now = new Date('2026-09-12T10:00:00.000Z');

const parent = {
  state: 'approved',
  experience: 'service',
  parent_id: null,
  member_id: memberId,
};

const submission = {
  type: 'SubmitNote' as const,
  noteId: id,
  experience: 'service' as const,
  memberId: null,
  parentId: null,
  name: 'Ada',
  message: 'Good morning',
  parent: null,
  admission: true,
};

const approval = (expectedVersion: number) => ({
  type: 'ApproveNote' as const,
  expectedVersion,
  claimedAt: null,
  parent: null,
});
const rejection = (expectedVersion: number) => ({
  type: 'RejectNote' as const,
  expectedVersion,
  policy: 'spam',
  message: null,
});
const undo = (of = decision, at = now) => ({
  type: 'UndoDecision' as const,
  of,
  last: { eventId: decision, undoUntil: new Date('2026-09-12T10:10:00.000Z') },
  now: at,
});

/** The state after commands that must all be accepted. */
function after(...commands: NoteCommand[]): NoteState {
  return commands.reduce<NoteState>((state, command) => {
    const decided = note.decide(state, command);
    if (isRefusal(decided)) throw new Error(`${command.type}: ${decided.refused}`);
    return decided.reduce(note.evolve, state);
  }, note.initial);
}

const reasonOf = (state: NoteState, command: NoteCommand) => {
  const decided = note.decide(state, command);
  return isRefusal(decided) ? (decided.details?.reason ?? decided.refused) : 'accepted';
};

t.test('a guest submits a note', async (t) => {
  const decided = note.decide(note.initial, submission);
  t.same(decided, [
    {
      type: 'NoteSubmitted',
      data: {
        note_id: id,
        experience: 'service',
        attribution: 'guest',
        parent_id: null,
        member_id: null,
      },
      personal: { name: 'Ada', message: 'Good morning' },
    },
  ]);
  t.match(replay(note, decided as never[]), { status: 'pending', version: 1 });
});

t.test("a member's note names its member", async (t) => {
  t.match(note.decide(note.initial, { ...submission, memberId, name: '' }), [
    { data: { attribution: 'member', member_id: memberId } },
  ]);
});

t.test('an id is used once, and only while the guestbook is open', async (t) => {
  t.equal(reasonOf(after(submission), submission), 'submission_conflict');
  t.equal(reasonOf(note.initial, { ...submission, admission: false }), 'admission_closed');
});

t.test('a reply needs a public top-level note of the same experience', async (t) => {
  const reply = { ...submission, parentId };
  t.equal(reasonOf(note.initial, { ...reply, parent }), 'accepted');
  for (const wrong of [
    null,
    { ...parent, state: 'pending' },
    { ...parent, parent_id: id },
    { ...parent, experience: 'observatory' },
  ])
    t.equal(reasonOf(note.initial, { ...reply, parent: wrong }), 'reply_target_unavailable');
});

t.test('a pending note is approved or rejected once', async (t) => {
  const pending = after(submission);
  t.match(after(submission, approval(1)), { status: 'approved', version: 2 });
  t.match(after(submission, rejection(1)), { status: 'rejected', version: 2 });
  t.same(note.decide(pending, approval(2)), {
    refused: 'state_conflict',
    details: { reason: 'version_mismatch', current_version: 1 },
  });
  for (const decided of [after(submission, approval(1)), after(submission, rejection(1))]) {
    t.equal(reasonOf(decided, approval(2)), 'wrong_state');
    t.equal(reasonOf(decided, rejection(2)), 'wrong_state');
  }
  t.equal(reasonOf(note.initial, approval(0)), 'wrong_state');
});

t.test('a reply is approved only while its parent is public', async (t) => {
  const pending = after({ ...submission, parentId, parent });
  t.equal(
    reasonOf(pending, { ...approval(1), parent: { ...parent, state: 'rejected' } }),
    'parent_not_public',
  );
  t.match(note.decide(pending, { ...approval(1), parent }), [
    { type: 'NoteApproved', data: { parent_author_id: memberId } },
  ]);
});

t.test('the latest decision is undone within its time, once', async (t) => {
  const approved = after(submission, approval(1));
  t.match(note.decide(approved, undo()), [{ data: { of: decision, decision: 'approved' } }]);
  t.match(after(submission, rejection(1), undo()), { status: 'pending', version: 3 });
  t.equal(reasonOf(after(submission, approval(1), undo()), undo()), 'wrong_state');
  t.equal(reasonOf(approved, undo(memberId)), 'wrong_state');
  t.equal(reasonOf(approved, undo(decision, new Date('2026-09-12T10:10:00.000Z'))), 'undo_expired');
  t.match(after(submission, approval(1), undo(), rejection(3)), { status: 'rejected', version: 4 });
});
