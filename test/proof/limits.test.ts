import t from 'tap';
import { addressLimitsHeld, limitsHeld } from '../../proof/rules/limits.ts';
import { entry, event, logFacts, recordedOperation } from '../support/histories.ts';

const limits = {
  writes: 2,
  credentials: 2,
  notes: 2,
  registrations: 2,
  attempts: 2,
  members: 2,
};
const DAY = 86_400_000;

const times = <Result>(count: number, work: (index: number) => Result): Result[] =>
  Array.from({ length: count }, (_, index) => work(index));

t.test('finds one write above the daily budget', async (t) => {
  const writes = times(3, () => recordedOperation({}).receipt);
  t.same(limitsHeld(logFacts({ receipts: writes.slice(1) }), limits), []);
  t.match(limitsHeld(logFacts({ receipts: writes }), limits).join(), /3 writes, 2 allowed/);
  const spread = writes.map((receipt, day) => ({ ...receipt, at: day * DAY }));
  t.same(limitsHeld(logFacts({ receipts: spread }), limits), []);
});

t.test('does not count operations exempt from the budget', async (t) => {
  const receipts = times(3, () => recordedOperation({ operation: 'credential.revoke' }).receipt);
  t.same(limitsHeld(logFacts({ receipts }), limits), []);
});

const created = (id: string, until = DAY) =>
  event({
    type: 'CredentialCreated',
    data: { credential_id: id, expires_at: new Date(until).toISOString() },
  });

t.test('finds one active credential above the limit', async (t) => {
  const [a, b, c] = ['a', 'b', 'c'].map((id) => created(id)) as [never, never, never];
  t.match(limitsHeld(logFacts({ events: [a, b, c] }), limits).join(), /3 active credentials/);
  const revoked = event({ type: 'CredentialRevoked', data: { credential_id: 'a' } });
  t.same(limitsHeld(logFacts({ events: [a, b, revoked, c] }), limits), []);
  t.same(limitsHeld(logFacts({ events: [created('x', 500), b, c] }), limits), [], 'expired');
});

t.test('finds one member above the limit', async (t) => {
  const joined = (owner: string) => event({ type: 'MemberRegistered', owner });
  const left = event({ type: 'MemberDeactivated', owner: 'a' });
  const [a, b, c] = ['a', 'b', 'c'].map(joined) as [never, never, never];
  t.match(limitsHeld(logFacts({ events: [a, b, c] }), limits).join(), /3 members, 2 allowed/);
  t.same(limitsHeld(logFacts({ events: [a, b, left, c] }), limits), []);
});

for (const [what, operation, status] of [
  ['notes', 'guestbook.submit', 202],
  ['new members', 'membership.register', 200],
  ['attempts', 'membership.attempt', 401],
] as const)
  t.test(`finds ${what} of an address above the limit`, async (t) => {
    const outcome = status === 401 ? 'refused' : 'done';
    const all = times(3, () => entry({ operation, status, outcome, address: '10.1.1.1' }));
    const found = addressLimitsHeld(all, logFacts({}), limits, []);
    t.match(found.join(), `10.1.1.1: 3 ${what}, 2 allowed`);
    t.same(addressLimitsHeld(all.slice(1), logFacts({}), limits, []), []);
  });

t.test('counts a note with a lost response if it exists', async (t) => {
  const notes = times(3, () =>
    recordedOperation({ operation: 'guestbook.submit', outcome: 'unknown' }),
  );
  const entries = notes.map(({ attempt: asked }) => asked);
  const receipts = notes.map(({ receipt }) => receipt);
  t.match(addressLimitsHeld(entries, logFacts({ receipts }), limits, []).join(), /3 notes/);
  t.same(addressLimitsHeld(entries, logFacts({}), limits, []), []);
});

t.test('allows only unflushed counts to be lost in a crash', async (t) => {
  const crash = { name: 'kill -9 of PostgreSQL', began: 1005, ended: 1006, crash: true };
  const of = (operation: string) => times(3, () => entry({ operation }));
  const found = (operation: string, fault = crash) =>
    addressLimitsHeld(of(operation), logFacts({}), limits, [fault]).length;
  t.equal(found('guestbook.submit'), 0);
  t.equal(found('guestbook.submit', { ...crash, began: 5000, ended: 6000 }), 1);
  t.equal(found('membership.register'), 1);
});
