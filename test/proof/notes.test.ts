import t from 'tap';
import type { EventFact } from '../../proof/log-facts.ts';
import { authorsNotifiedInTime, decidedBeforePublic } from '../../proof/rules/notes.ts';
import { entry, event, logFacts, receiptFor } from '../support/histories.ts';

const seenAt = (at: number, mayLag = false) => [
  { note: 'n', invoked: at - 5, answered: at + 5, mayLag },
];

const stream = (...all: [type: string, at: number, data?: object][]): EventFact[] =>
  all.map(([type, at, data], index) =>
    event({ type, at, data: { note_id: 'n', ...data }, stream: 'note-n', version: index + 1 }),
  );

t.test('accepts a public note from its approval on', async (t) => {
  const events = stream(['NoteSubmitted', 1000], ['NoteApproved', 2000]);
  t.same(decidedBeforePublic(seenAt(2001), [], logFacts({ events })), []);
  const before = decidedBeforePublic(seenAt(1500), [], logFacts({ events }));
  t.match(before.join(), /public at the wrong time/);
});

t.test('finds a public note that was never approved', async (t) => {
  for (const decision of ['NoteRejected', 'NoteEscalated']) {
    const events = stream(['NoteSubmitted', 1000], [decision, 2000]);
    t.match(decidedBeforePublic(seenAt(3000), [], logFacts({ events })).join(), /not approved/);
  }
  t.match(decidedBeforePublic(seenAt(3000), [], logFacts({})).join(), /not approved/);
});

for (const [type, data] of [
  ['NoteRemoved', {}],
  ['DecisionUndone', { decision: 'approved' }],
] as const)
  t.test(`finds a note that is public after an acknowledged ${type}`, async (t) => {
    const events = stream(['NoteSubmitted', 1000], ['NoteApproved', 2000], [type, 3000, data]);
    const hidden = entry({ operation: 'moderation.decide', invoked: 2990, answered: 3100 });
    const all = logFacts({ events, receipts: [receiptFor(hidden, [events[2] as EventFact])] });
    t.same(
      decidedBeforePublic(seenAt(3050), [hidden], all),
      [],
      'the removal may not have happened yet',
    );
    const late = decidedBeforePublic(seenAt(3200), [hidden], all);
    t.match(late.join(), /public at the wrong time/);
    const unknown = { ...hidden, outcome: 'unknown' as const };
    t.same(
      decidedBeforePublic(seenAt(3200), [unknown], all),
      [],
      'an unknown removal proves nothing',
    );
  });

t.test('lets a replica show a removed note for as long as it may lag', async (t) => {
  const events = stream(['NoteSubmitted', 1000], ['NoteApproved', 2000], ['NoteWithdrawn', 3000]);
  const done = entry({ operation: 'guestbook.withdraw', key: null, subject: 'n', invoked: 2995 });
  const check = (at: number) =>
    decidedBeforePublic(seenAt(at, true), [done], logFacts({ events })).join();
  t.equal(check(9000), '');
  t.match(check(20_000), /wrong time/);
  t.match(check(1500), /wrong time/, 'a replica shows nothing early');
});

t.test('finds a note that is public after an acknowledged withdrawal', async (t) => {
  const events = stream(['NoteSubmitted', 1000], ['NoteApproved', 2000], ['NoteWithdrawn', 3000]);
  const done = entry({ operation: 'guestbook.withdraw', key: null, subject: 'n', invoked: 2995 });
  t.match(decidedBeforePublic(seenAt(3200), [done], logFacts({ events })).join(), /wrong time/);
});

t.test('finds a note that is public although a later event proves it hidden', async (t) => {
  const events = stream(
    ['NoteSubmitted', 1000],
    ['NoteApproved', 2000],
    ['NoteRemoved', 3000],
    ['AppealOpened', 4000],
    ['AppealGranted', 5000],
  );
  t.match(decidedBeforePublic(seenAt(4500), [], logFacts({ events })).join(), /wrong time/);
  t.same(decidedBeforePublic(seenAt(5500), [], logFacts({ events })), [], 'public again');
});

t.test('allows events of one transaction to be invisible to each other', async (t) => {
  const events = stream(
    ['NoteSubmitted', 1000],
    ['NoteApproved', 2000],
    ['NoteWithdrawn', 3000],
    ['NoteErased', 3000],
  );
  t.same(decidedBeforePublic(seenAt(3200), [], logFacts({ events })), [], 'not committed yet');
});

t.test('finds an author who is notified before the decision is final', async (t) => {
  const events = stream(['NoteSubmitted', 1000], ['NoteRejected', 2000]);
  const findings = (answered: number) =>
    authorsNotifiedInTime([{ note: 'n', answered }], logFacts({ events }), 3000);
  t.match(findings(3000).join(), /told before the decision stood/);
  t.same(findings(5000), []);
});
