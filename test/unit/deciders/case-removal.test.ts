import t from 'tap';
import {
  type CaseNoteCommand,
  type CaseNoteState,
  caseNote,
} from '../../../domain/cases/case-note.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { matchAll } from '../../support/match-all.ts';
import {
  after,
  ann,
  at,
  author,
  bob,
  caseId,
  claim,
  eventsOf,
  opening,
  reasonOf,
  withdraw,
} from './case-setting.ts';

const of = '01890000-0000-7000-8000-000000000001';
const mod = 'c0000000-0000-4000-8000-000000000001';
const lead = 'c0000000-0000-4000-8000-000000000002';
const members = [ann, author];
const removal = { eventId: of, policy: 'spam', by: mod, undoUntil: at(600) };

const remove = (expectedVersion: number) => ({
  type: 'Remove' as const,
  expectedVersion,
  policy: 'spam',
  message: 'No.',
  claimedAt: null,
  members,
});
const restore = (expectedVersion: number, by: string) => ({
  type: 'Restore' as const,
  expectedVersion,
  by,
  removal,
  members,
});
const undo = (second: number) => ({
  type: 'UndoRemoval' as const,
  anyTime: false,
  of,
  removal,
  now: at(second),
  members,
});
const tell = { type: 'TellRemoval' as const, of, removal, members };

t.test('hides a removed case from every member and restores its state', async (t) => {
  const removed = after(opening, claim(ann), remove(2));
  t.match(removed, { status: 'claimed', removed: true, version: 3 });
  for (const command of [
    claim(bob, { expectedVersion: 3 }),
    withdraw(author, { expectedVersion: 3, second: 9999 }),
  ])
    t.equal(reasonOf(removed, command), 'gone');
  t.equal(reasonOf(removed, remove(3)), 'wrong_state');
  t.equal(reasonOf(after(opening), remove(2)), 'version_mismatch');
  t.match(after(opening, claim(ann), remove(2), restore(3, lead)), {
    status: 'claimed',
    removed: false,
    version: 4,
  });
  t.equal(
    reasonOf(after(opening, withdraw(author)), remove(2)),
    'accepted',
    'a withdrawn case can be removed',
  );
});

t.test('lets a second person restore, and the remover only undo in time', async (t) => {
  const removed = after(opening, remove(1));
  t.equal(reasonOf(removed, restore(2, mod)), 'second_person_required');
  t.equal(reasonOf(removed, restore(1, lead)), 'version_mismatch');
  t.equal(reasonOf(removed, undo(600)), 'undo_expired');
  matchAll(t, eventsOf(removed, undo(599)), [
    { type: 'CaseRestored', data: { of, undone: true, told: false, members } },
  ]);
  t.equal(reasonOf(after(opening), restore(1, lead)), 'wrong_state');
});

t.test('announces a final removal once', async (t) => {
  const announced = after(opening, remove(1), tell);
  t.match(announced, { told: true, version: 2 });
  t.same(eventsOf(announced, tell), []);
  t.same(eventsOf(after(opening), tell), []);
  matchAll(t, eventsOf(announced, restore(2, lead)), [{ data: { told: true, undone: false } }]);
});

const note = {
  type: 'AddCaseNote' as const,
  caseId,
  noteId: 'd0000000-0000-4000-8000-000000000001',
  memberId: bob,
  message: 'Hello',
  policyVersion: 'service-public-v1',
  state: 'open',
  removed: false,
  members,
};

function noted(...commands: CaseNoteCommand[]): CaseNoteState {
  return commands.reduce<CaseNoteState>((state, command) => {
    const decided = caseNote.decide(state, command);
    if (isRefusal(decided)) throw new Error(`${command.type}: ${JSON.stringify(decided)}`);
    return decided.reduce(caseNote.evolve, state);
  }, caseNote.initial);
}

const refusalOf = (state: CaseNoteState, command: CaseNoteCommand) => {
  const decided = caseNote.decide(state, command);
  return isRefusal(decided) ? (decided.details?.reason ?? decided.refused) : 'accepted';
};

t.test('accepts notes on a case in any state except withdrawn', async (t) => {
  matchAll(t, caseNote.decide(caseNote.initial, note), [
    {
      type: 'CaseNoted',
      data: { members: [ann, author, bob].sort() },
      personal: { message: 'Hello' },
    },
  ]);
  for (const state of ['claimed', 'submitted', 'accepted'])
    t.equal(refusalOf(caseNote.initial, { ...note, state }), 'accepted');
  t.equal(refusalOf(caseNote.initial, { ...note, state: 'withdrawn' }), 'wrong_state');
  t.equal(refusalOf(caseNote.initial, { ...note, removed: true }), 'gone');
});

t.test('removes, restores and announces case notes like cases', async (t) => {
  t.equal(refusalOf(caseNote.initial, remove(1)), 'not_found');
  t.match(noted(note, remove(1)), { status: 'removed', version: 2 });
  t.equal(refusalOf(noted(note), remove(2)), 'version_mismatch');
  t.equal(refusalOf(noted(note, remove(1)), remove(2)), 'wrong_state');
  t.equal(refusalOf(noted(note, remove(1)), restore(2, mod)), 'second_person_required');
  t.match(noted(note, remove(1), undo(10)), { status: 'published', version: 3 });
  const told = noted(note, remove(1), tell);
  t.match(told, { status: 'removed', told: true });
  t.same(caseNote.decide(told, tell), []);
  t.match(noted(note, remove(1), tell, restore(3, lead)), { status: 'published', version: 4 });
});
