import t from 'tap';
import { oneEffect, streamsWhole } from '../../proof/rules/effects.ts';
import { entry, event, logFacts, receiptFor, recordedOperation } from '../support/histories.ts';

const { attempt: asked, recorded, receipt } = recordedOperation({});
const all = { events: [recorded], receipts: [receipt] };

t.test('an operation with one receipt and one event is right', async (t) => {
  t.same(oneEffect([asked], logFacts(all)), []);
});

t.test('an unknown operation may have one effect or none', async (t) => {
  const unknown = { ...asked, outcome: 'unknown' as const, events: [] };
  t.same(oneEffect([unknown], logFacts(all)), []);
  t.same(oneEffect([unknown], logFacts({})), []);
});

t.test('an acknowledged operation without its receipt or its event is found', async (t) => {
  t.match(oneEffect([asked], logFacts({ events: [recorded] })).join(), /done without a receipt/);
  t.match(oneEffect([asked], logFacts({ receipts: [receipt] })).join(), /lost event/);
});

t.test('a refused operation that was done is found', async (t) => {
  const refused = { ...asked, outcome: 'refused' as const, events: [] };
  t.match(oneEffect([refused], logFacts(all)).join(), /refused, yet done/);
});

t.test('a second effect of one operation is found, in its receipt and beside it', async (t) => {
  const second = event({});
  const beside = logFacts({ ...all, events: [recorded, second] });
  t.match(oneEffect([asked], beside).join(), /an effect of no receipt/);
  const inside = logFacts({ ...beside, receipts: [receiptFor(asked, [recorded, second])] });
  t.match(oneEffect([asked], inside).join(), /2 effects for one receipt/);
});

t.test('one event in two receipts is found, and a receipt that nobody asked for', async (t) => {
  const other = entry({ key: 'other' });
  const twice = logFacts({ ...all, receipts: [receipt, receiptFor(other, [recorded])] });
  t.match(oneEffect([asked, other], twice).join(), /in 2 receipts/);
  t.match(oneEffect([asked], twice).join(), /other: nobody asked for it/);
});

t.test('an answer that names other events than the receipt is found', async (t) => {
  const second = event({ actor: 'service' });
  const answered = { ...asked, events: [second.id] };
  const wrong = oneEffect([answered], logFacts({ ...all, events: [recorded, second] }));
  t.match(wrong.join(), /names other events/);
});

t.test('what workers do needs no receipt', async (t) => {
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
  t.test(`${operation} acknowledged and not there, or there twice, is found`, async (t) => {
    const login = entry({ operation, key: null, subject: 's' });
    const told = () => event({ type, data: { session_id: 's' } });
    t.same(oneEffect([login], logFacts({ events: [told()] })), []);
    t.match(oneEffect([login], logFacts({})).join(), /of s: 0 effects/);
    const twice = oneEffect([login], logFacts({ events: [told(), told()] }));
    t.match(twice.join(), /of s: 2 effects/);
  });

t.test('more sessions than sign-ins is found; lost sign-ins may have made one each', async (t) => {
  const login = entry({ operation: 'membership.login', key: null, subject: 's1', lost: 1 });
  const sessions = ['s1', 's2', 's3'].map((session_id) =>
    event({ type: 'SessionStarted', data: { session_id } }),
  );
  t.same(oneEffect([login], logFacts({ events: sessions.slice(0, 2) })), []);
  t.match(oneEffect([login], logFacts({ events: sessions })).join(), /3 sessions from 2 sign-ins/);
});

t.test('a withdrawal that was acknowledged and is not in the log is found', async (t) => {
  const withdrawal = entry({ operation: 'guestbook.withdraw', key: null, subject: 'n' });
  t.match(oneEffect([withdrawal], logFacts({})).join(), /of n: 0 effects/);
});

t.test('a stream with a gap, or with a version twice, is found', async (t) => {
  const versions = (...numbers: number[]) =>
    logFacts({ events: numbers.map((version) => event({ stream: 'case-1', version })) });
  t.same(streamsWhole(versions(1, 2, 3)), []);
  t.match(streamsWhole(versions(1, 3)).join(), /version 3 after 1/);
  t.match(streamsWhole(versions(1, 1)).join(), /version 1 after 1/);
});
