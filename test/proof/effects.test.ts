import t from 'tap';
import { oneEffect, streamsWhole } from '../../proof/rules/effects.ts';
import { entry, event, logFacts, receiptFor, recordedOperation } from '../support/histories.ts';

const { attempt, recorded, receipt } = recordedOperation({});
const all = { events: [recorded], receipts: [receipt] };

t.test('accepts an operation with one receipt and one event', async (t) => {
  t.same(oneEffect([attempt], logFacts(all)), []);
});

t.test('accepts one effect or none of an unknown operation', async (t) => {
  const unknown = { ...attempt, outcome: 'unknown' as const, events: [] };
  t.same(oneEffect([unknown], logFacts(all)), []);
  t.same(oneEffect([unknown], logFacts({})), []);
});

t.test('finds an acknowledged operation without its receipt or event', async (t) => {
  t.match(oneEffect([attempt], logFacts({ events: [recorded] })).join(), /done without a receipt/);
  t.match(oneEffect([attempt], logFacts({ receipts: [receipt] })).join(), /lost event/);
});

t.test('finds a refused operation that took effect', async (t) => {
  const refused = { ...attempt, outcome: 'refused' as const, events: [] };
  t.match(oneEffect([refused], logFacts(all)).join(), /refused, yet done/);
});

t.test('finds a second effect of an operation, in its receipt or outside', async (t) => {
  const second = event({});
  const beside = logFacts({ ...all, events: [recorded, second] });
  t.match(oneEffect([attempt], beside).join(), /an effect of no receipt/);
  const inside = logFacts({ ...beside, receipts: [receiptFor(attempt, [recorded, second])] });
  t.match(oneEffect([attempt], inside).join(), /2 effects for one receipt/);
});

t.test('finds an event in two receipts, and a receipt without a request', async (t) => {
  const other = entry({ key: 'other' });
  const twice = logFacts({ ...all, receipts: [receipt, receiptFor(other, [recorded])] });
  t.match(oneEffect([attempt, other], twice).join(), /in 2 receipts/);
  t.match(oneEffect([attempt], twice).join(), /other: nobody asked for it/);
});

t.test('finds a response that names other events than the receipt', async (t) => {
  const second = event({ actor: 'service' });
  const answered = { ...attempt, events: [second.id] };
  const wrong = oneEffect([answered], logFacts({ ...all, events: [recorded, second] }));
  t.match(wrong.join(), /names other events/);
});

t.test('accepts events of workers without a receipt', async (t) => {
  const events = [
    event({ actor: 'service', type: 'CredentialExpired' }),
    event({ actor: 'moderator', type: 'DecisionTold' }),
  ];
  t.same(oneEffect([], logFacts({ events })), []);
});

for (const [operation, type] of [
  ['membership.login', 'SessionStarted'],
  ['moderation.sign_in', 'ModeratorSignedIn'],
  ['moderation.sign_out', 'ModeratorSignedOut'],
] as const)
  t.test(`finds an acknowledged ${operation} with no event or two`, async (t) => {
    const login = entry({ operation, key: null, subject: 's' });
    const sessionEvent = () => event({ type, data: { session_id: 's' } });
    t.same(oneEffect([login], logFacts({ events: [sessionEvent()] })), []);
    t.match(oneEffect([login], logFacts({})).join(), /of s: 0 effects/);
    const twice = oneEffect([login], logFacts({ events: [sessionEvent(), sessionEvent()] }));
    t.match(twice.join(), /of s: 2 effects/);
  });

t.test('finds more sessions than sign-ins, lost ones included', async (t) => {
  const login = entry({ operation: 'membership.login', key: null, subject: 's1', lost: 1 });
  const sessions = ['s1', 's2', 's3'].map((session_id) =>
    event({ type: 'SessionStarted', data: { session_id } }),
  );
  t.same(oneEffect([login], logFacts({ events: sessions.slice(0, 2) })), []);
  t.match(oneEffect([login], logFacts({ events: sessions })).join(), /3 sessions from 2 sign-ins/);
});

t.test('finds an acknowledged withdrawal that is not in the log', async (t) => {
  const withdrawal = entry({ operation: 'guestbook.withdraw', key: null, subject: 'n' });
  t.match(oneEffect([withdrawal], logFacts({})).join(), /of n: 0 effects/);
});

t.test('finds a gap or a repeated version in a stream', async (t) => {
  const versions = (...numbers: number[]) =>
    logFacts({ events: numbers.map((version) => event({ stream: 'case-1', version })) });
  t.same(streamsWhole(versions(1, 2, 3)), []);
  t.match(streamsWhole(versions(1, 3)).join(), /version 3 after 1/);
  t.match(streamsWhole(versions(1, 1)).join(), /version 1 after 1/);
});
