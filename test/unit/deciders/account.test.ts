import t from 'tap';
import { note } from '../../../domain/guestbook/note.ts';
import { member } from '../../../domain/membership/member.ts';
import { replay } from '../../../platform/eventstore/decider.ts';

const registered = {
  type: 'MemberRegistered' as const,
  data: { handle_hash: 'h', handle_key_id: 1 },
  personal: null,
};
const deactivated = {
  type: 'MemberDeactivated' as const,
  data: { erase_notes: false, in_batches: true as const },
  personal: null,
};
const erased = { type: 'MemberErased' as const, data: {}, personal: null };
const deactivate = { type: 'DeactivateMember' as const, eraseNotes: false };
const erase = { type: 'EraseMember' as const };

t.test('deactivates a member once and completes the erasure once, afterwards', async (t) => {
  const after = (...events: Parameters<typeof member.evolve>[1][]) => replay(member, events);
  t.strictSame(member.decide(after(), deactivate), []);
  t.strictSame(member.decide(after(registered), erase), [], 'an active member is not erased');
  t.strictSame(member.decide(after(registered), deactivate), [deactivated]);
  t.strictSame(member.decide(after(registered, deactivated), deactivate), []);
  t.strictSame(member.decide(after(registered, deactivated), erase), [erased]);
  t.strictSame(member.decide(after(registered, deactivated, erased), erase), []);
  t.strictSame(member.decide(after(registered, deactivated, erased), deactivate), []);
});

t.test('refuses registration and recovery of a deactivated member', async (t) => {
  const state = replay(member, [registered, deactivated, erased]);
  t.match(member.decide(state, { type: 'RecoverMember', operationId: 'o' }), {
    refused: 'credentials_not_accepted',
  });
  const command = { type: 'RegisterMember', limits: {} } as never;
  t.match(member.decide(state, command), { refused: 'registration_conflict' });
});

/** Numbers events as a stream does. */
const numbered = <Event>(events: readonly Event[]) =>
  events.map((event, index) => ({ ...event, stream_version: index + 1 }));

t.test('refuses decisions on a withdrawn or erased note', async (t) => {
  const note_id = '00000000-0000-4000-8000-000000000001';
  const submitted = {
    type: 'NoteSubmitted' as const,
    data: {
      note_id,
      experience: 'service' as const,
      attribution: 'member' as const,
      parent_id: null,
      member_id: note_id,
    },
    personal: null,
  };
  const rejected = {
    type: 'NoteRejected' as const,
    data: { note_id, policy: 'spam' },
    personal: null,
  };
  const withdrawn = {
    type: 'NoteWithdrawn' as const,
    data: { note_id, reports: [] },
    personal: null,
  };
  const gone = {
    type: 'NoteErased' as const,
    data: { note_id, cause: 'account_deletion' as const },
    personal: null,
  };
  const approve = {
    type: 'ApproveNote' as const,
    expectedVersion: 2,
    claimedAt: null,
    parent: null,
  };
  t.match(note.decide(replay(note, numbered([submitted, withdrawn])), approve), {
    refused: 'state_conflict',
    details: { reason: 'wrong_state', current_state: 'withdrawn' },
  });
  const undo = {
    type: 'UndoDecision' as const,
    of: 'e',
    expectedVersion: 3,
    moderatorId: 'm',
    role: 'lead' as const,
    parent: null,
    authorGone: false,
    undoSeconds: 600,
    now: new Date(0),
  };
  t.match(note.decide(replay(note, [submitted, rejected, gone]), undo), {
    refused: 'state_conflict',
    details: { reason: 'wrong_state', current_state: 'rejected' },
  });
});
