import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import {
  type CaseEvent,
  type CaseState,
  type ExistingCase,
  evolve,
  RESETS,
  stateSinceReset,
} from '../../../domain/cases/case-state.ts';
import { tries } from '../../support/sequences.ts';

const case_id = randomUUID();
const author_id = randomUUID();
const TYPES = [
  'CaseClaimed',
  'CaseLeaseExtended',
  'CaseReleased',
  'CaseLeaseEnded',
  'CaseSubmitted',
  'CaseReviewed',
  'CaseAccepted',
  'CaseReturned',
  'CaseRejected',
  'CaseRemoved',
  'CaseRestored',
  'CaseRemovalTold',
] as const;

const event = fc.record({
  type: fc.constantFrom(...TYPES),
  data: fc.record({
    member_id: fc.constantFrom('ann', 'bob', 'cem'),
    lease_seconds: fc.nat(3600),
    lease_expires_at: fc.nat(1e9).map((at) => new Date(at).toISOString()),
    submission_id: fc.uuid(),
  }),
});

t.test('a case read from its last reset on has the state of its whole stream', async () => {
  const opened = { type: 'CaseOpened', data: { case_id, author_id } };
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (later) => {
      const stream = [opened, ...later] as unknown as CaseEvent[];
      const whole = stream.reduce(evolve, { status: 'none' } as CaseState) as ExistingCase;
      const from = stream.findLastIndex(({ type }) => RESETS.some((reset) => reset === type));
      const { version, removed } = whole;
      const since = stateSinceReset({ case_id, author_id, version, removed }, stream.slice(from));
      assert.deepEqual({ ...since, told: whole.told }, whole);
    }),
    tries(500),
  );
});
