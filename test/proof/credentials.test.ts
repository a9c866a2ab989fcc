import t from 'tap';
import { revokedForGood } from '../../proof/rules/credentials.ts';
import { entry, event, logFacts, receiptFor, recordedOperation } from '../support/histories.ts';

const created = event({
  type: 'CredentialCreated',
  data: { credential_id: 'c', expires_at: new Date(100_000).toISOString() },
});

/** The revocation of the credential at this time, with its acknowledgement. */
function revocation(at: number, reason = 'revoked') {
  const operation = reason === 'recovery' ? 'membership.recover' : 'credential.revoke';
  const ended = event({ type: 'CredentialRevoked', data: { credential_id: 'c', reason }, at });
  const events = reason === 'recovery' ? [] : [ended.id];
  const attempt = entry({ operation, invoked: at - 5, answered: at + 5, events });
  return { attempt, ended, receipt: receiptFor(attempt, [ended]) };
}

t.test('accepts a write before the revocation', async (t) => {
  const write = recordedOperation({ credential: 'c' });
  const { attempt, ended, receipt } = revocation(2000);
  const events = [created, write.recorded, ended];
  const receipts = [write.receipt, receipt];
  t.same(revokedForGood([write.attempt, attempt], logFacts({ events, receipts })), []);
});

for (const reason of ['revoked', 'recovery'])
  t.test(`finds a write sent after the acknowledged end: ${reason}`, async (t) => {
    const { attempt, ended, receipt } = revocation(2000, reason);
    const write = entry({ credential: 'c', invoked: 2006 });
    const all = logFacts({ events: [created, ended], receipts: [receipt] });
    t.match(revokedForGood([write, attempt], all).join(), /after its revocation was acknowledged/);
    const meanwhile = { ...write, invoked: 2004 };
    t.same(revokedForGood([meanwhile, attempt], all), [], 'sent before the acknowledgement');
  });

t.test('finds a write behind the revocation in the log', async (t) => {
  const { attempt, ended, receipt } = revocation(2000);
  const write = recordedOperation({ credential: 'c', invoked: 1990 });
  const all = logFacts({
    events: [created, ended, write.recorded],
    receipts: [receipt, write.receipt],
  });
  t.match(revokedForGood([write.attempt, attempt], all).join(), /stands before it in the log/);
});

t.test('accepts events recorded together with the revocation', async (t) => {
  const ended = event({ type: 'CredentialRevoked', data: { credential_id: 'c' } });
  const next = event({ type: 'CredentialCreated', data: { credential_id: 'd' } });
  const rotation = entry({
    operation: 'credential.rotate',
    credential: 'c',
    events: [ended.id, next.id],
  });
  const all = logFacts({
    events: [created, ended, next],
    receipts: [receiptFor(rotation, [ended, next])],
  });
  t.same(revokedForGood([rotation], all), []);
});

t.test('finds a write after the expiry', async (t) => {
  const late = recordedOperation({ credential: 'c', invoked: 106_000 }, { at: 106_005 });
  const all = logFacts({ events: [created, late.recorded], receipts: [late.receipt] });
  t.match(revokedForGood([late.attempt], all).join(), /that had expired/);
});
