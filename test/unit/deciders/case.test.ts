import t from 'tap';
import { caseDecider } from '../../../domain/cases/case.ts';
import { conflict } from '../../../domain/conflict.ts';
import { matchAll } from '../../support/match-all.ts';
import {
  after,
  ann,
  artifact,
  at,
  author,
  bob,
  caseId,
  claim,
  eventsOf,
  leave,
  opening,
  reasonOf,
  release,
  review,
  reviewId,
  submissionId,
  submit,
  withdraw,
} from './case-setting.ts';

const claimed = () => after(opening, claim(ann));
const submitted = () => after(opening, claim(ann), submit(ann, { expectedVersion: 2 }));
const accepted = () =>
  after(
    opening,
    claim(ann),
    submit(ann, { expectedVersion: 2 }),
    review(author, 'accept', { expectedVersion: 3 }),
  );
const withdrawn = () => after(opening, withdraw(author));

t.test('opens a case once, and only with a public artifact', async (t) => {
  t.match(after(opening), { status: 'open', authorId: author, version: 1, removed: false });
  t.equal(reasonOf(after(opening), opening), 'wrong_state');
  const withArtifact = { ...opening, artifactId: artifact };
  t.equal(reasonOf(caseDecider.initial, withArtifact), 'artifact_unavailable');
  t.equal(reasonOf(caseDecider.initial, { ...withArtifact, artifactPublic: true }), 'accepted');
  t.equal(reasonOf(caseDecider.initial, claim(ann)), 'not_found');
});

t.test('lets any member but the author claim an open case', async (t) => {
  t.same(eventsOf(after(opening), claim(ann, { second: 5 })), [
    {
      type: 'CaseClaimed',
      data: {
        case_id: caseId,
        member_id: ann,
        lease_seconds: 3600,
        lease_expires_at: at(3605).toISOString(),
        members: [author, ann],
      },
      personal: null,
    },
  ]);
  t.equal(reasonOf(after(opening), claim(author)), 'own_case');
  t.same(
    caseDecider.decide(after(opening), claim(ann, { expectedVersion: 2 })),
    conflict('version_mismatch', { current_version: 1 }),
  );
  t.equal(
    reasonOf(after(opening), claim(author, { expectedVersion: 7 })),
    'own_case',
    'the role is checked before the version',
  );
});

t.test('reports a case held by another as wrong_state, whatever the version', async (t) => {
  for (const expectedVersion of [1, 2])
    for (const member of [bob, author])
      t.same(
        caseDecider.decide(claimed(), claim(member, { expectedVersion })),
        conflict('wrong_state', { current_state: 'claimed', current_version: 2 }),
      );
});

t.test("extends the claimant's lease and never shortens it", async (t) => {
  const extended = after(opening, claim(ann), claim(ann, { expectedVersion: 2, second: 60 }));
  t.match(extended, { status: 'claimed', version: 3, claim: { expiresAt: at(3660) } });
  matchAll(t, eventsOf(claimed(), claim(ann, { expectedVersion: 2, leaseSeconds: 300 })), [
    {
      type: 'CaseLeaseExtended',
      data: { lease_seconds: 3600, lease_expires_at: at(3600).toISOString() },
    },
  ]);
  t.equal(reasonOf(claimed(), claim(ann, { expectedVersion: 1 })), 'version_mismatch');
});

t.test('lets the claimant release', async (t) => {
  t.match(after(opening, claim(ann), release(ann, { expectedVersion: 2 })), {
    status: 'open',
    version: 3,
  });
  t.equal(reasonOf(claimed(), release(bob, { expectedVersion: 2 })), 'not_claimant');
  t.equal(reasonOf(claimed(), release(ann, { expectedVersion: 1 })), 'version_mismatch');
  t.equal(reasonOf(after(opening), release(ann)), 'wrong_state');
  t.equal(reasonOf(submitted(), release(ann, { expectedVersion: 3 })), 'wrong_state');
});

t.test('ends a lapsed lease before the next command', async (t) => {
  const late = { second: 3600, members: [ann, author] };
  matchAll(t, eventsOf(claimed(), claim(bob, { ...late, expectedVersion: 3 })), [
    {
      type: 'CaseLeaseEnded',
      data: {
        member_id: ann,
        lease_expires_at: at(3600).toISOString(),
        members: [author, ann, bob],
      },
    },
    { type: 'CaseClaimed', data: { member_id: bob, members: [author, ann, bob] } },
  ]);
  t.equal(reasonOf(claimed(), claim(bob, { ...late, expectedVersion: 2 })), 'version_mismatch');
  t.equal(reasonOf(claimed(), claim(bob, { second: 3599, expectedVersion: 2 })), 'wrong_state');
  t.equal(
    reasonOf(claimed(), claim(ann, { ...late, expectedVersion: 3 })),
    'accepted',
    'the holder may claim again',
  );
  t.equal(reasonOf(claimed(), withdraw(author, { ...late, expectedVersion: 3 })), 'accepted');
});

t.test('reports a lapsed lease to its holder, before and after the log records it', async (t) => {
  const ended = after(opening, claim(ann), { type: 'EndLease', now: at(3600), members: [author] });
  t.match(ended, { status: 'open', version: 3, lapsed: ann });
  for (const state of [claimed(), ended])
    for (const expectedVersion of [2, 3]) {
      t.equal(reasonOf(state, submit(ann, { expectedVersion, second: 3600 })), 'lease_expired');
      t.equal(reasonOf(state, release(ann, { expectedVersion, second: 3600 })), 'lease_expired');
      t.equal(reasonOf(state, release(bob, { expectedVersion, second: 3600 })), 'wrong_state');
    }
  const taken = after(opening, claim(ann), claim(bob, { expectedVersion: 3, second: 3600 }));
  t.equal(reasonOf(taken, submit(ann, { expectedVersion: 4, second: 3601 })), 'not_claimant');
});

t.test('lets the worker end a lapsed lease once', async (t) => {
  const end = (second: number) => ({ type: 'EndLease' as const, now: at(second), members: [] });
  matchAll(t, eventsOf(claimed(), end(3600)), [{ type: 'CaseLeaseEnded' }]);
  for (const state of [
    after(opening),
    submitted(),
    accepted(),
    after(opening, claim(ann), end(3600)),
  ])
    t.same(eventsOf(state, end(9999)), []);
  t.same(eventsOf(claimed(), end(3599)), []);
});

t.test('lets the claimant submit, without an artifact or with a public one', async (t) => {
  t.match(submitted(), { status: 'submitted', version: 3, submissionId });
  const open = after(opening);
  t.equal(reasonOf(open, submit(ann)), 'wrong_state');
  t.equal(reasonOf(claimed(), submit(bob, { expectedVersion: 2 })), 'not_claimant');
  t.equal(reasonOf(claimed(), submit(author, { expectedVersion: 2 })), 'not_claimant');
  t.equal(reasonOf(claimed(), submit(ann, { expectedVersion: 1 })), 'version_mismatch');
  const withArtifact = { expectedVersion: 2, artifactId: artifact };
  t.equal(reasonOf(claimed(), submit(ann, withArtifact)), 'artifact_unavailable');
  t.equal(
    reasonOf(claimed(), submit(ann, { ...withArtifact, expectedVersion: 1 })),
    'version_mismatch',
  );
  t.equal(reasonOf(claimed(), submit(ann, { ...withArtifact, artifactPublic: true })), 'accepted');
  t.equal(reasonOf(submitted(), submit(ann, { expectedVersion: 3, second: 9999 })), 'wrong_state');
});

t.test("decides a case by the author's review", async (t) => {
  t.match(accepted(), { status: 'accepted', version: 4, submissionId });
  matchAll(t, eventsOf(submitted(), review(author, 'accept', { expectedVersion: 3 })), [
    {
      type: 'CaseReviewed',
      data: { review_id: reviewId, submission_id: submissionId, binding: true },
    },
    { type: 'CaseAccepted', data: { review_id: reviewId, member_id: ann } },
  ]);
  const changes = review(author, 'request_changes', { expectedVersion: 3, second: 5000 });
  t.match(
    after(opening, claim(ann, { leaseSeconds: 600 }), submit(ann, { expectedVersion: 2 }), changes),
    {
      status: 'claimed',
      version: 4,
      claim: { memberId: ann, expiresAt: at(5600) },
    },
  );
  t.match(
    after(
      opening,
      claim(ann),
      submit(ann, { expectedVersion: 2 }),
      review(author, 'reject', { expectedVersion: 3 }),
    ),
    {
      status: 'open',
      version: 4,
      lapsed: null,
    },
  );
});

t.test("treats another member's review as advice", async (t) => {
  const advised = after(
    opening,
    claim(ann),
    submit(ann, { expectedVersion: 2 }),
    review(bob, 'reject', { expectedVersion: 3 }),
  );
  t.same(advised, submitted());
  matchAll(t, eventsOf(submitted(), review(bob, 'reject', { expectedVersion: 3 })), [
    { type: 'CaseReviewed', data: { binding: false, decision: 'reject', member_id: bob } },
  ]);
  t.equal(reasonOf(submitted(), review(ann, 'accept', { expectedVersion: 3 })), 'own_submission');
  t.equal(reasonOf(submitted(), review(ann, 'accept', { expectedVersion: 1 })), 'own_submission');
  t.equal(reasonOf(submitted(), review(bob, 'accept', { expectedVersion: 2 })), 'version_mismatch');
  for (const state of [after(opening), claimed(), accepted(), withdrawn()])
    t.equal(reasonOf(state, review(author, 'accept', { expectedVersion: 1 })), 'wrong_state');
});

t.test('withdraws an open case, and accepts nothing after a final state', async (t) => {
  t.match(withdrawn(), { status: 'withdrawn', version: 2 });
  t.equal(reasonOf(after(opening), withdraw(ann)), 'not_author');
  t.equal(reasonOf(after(opening), withdraw(author, { expectedVersion: 2 })), 'version_mismatch');
  for (const state of [claimed(), submitted(), accepted(), withdrawn()])
    t.equal(reasonOf(state, withdraw(author, { expectedVersion: 2 })), 'wrong_state');
  for (const state of [accepted(), withdrawn()])
    for (const command of [claim(ann), release(ann), submit(ann), review(author, 'reject')])
      t.equal(reasonOf(state, command), 'wrong_state');
});

t.test('ends the unfinished work of a closed account', async (t) => {
  for (const state of [after(opening), claimed(), submitted()])
    matchAll(t, eventsOf(state, leave(author)), [
      { type: 'CaseWithdrawn', data: { reason: 'deactivated' } },
      { type: 'CaseAuthorLeft' },
    ]);
  matchAll(t, eventsOf(claimed(), leave(author, 3600)), [
    { type: 'CaseLeaseEnded' },
    { type: 'CaseWithdrawn' },
    { type: 'CaseAuthorLeft' },
  ]);
  for (const state of [claimed(), submitted()])
    matchAll(t, eventsOf(state, leave(ann)), [
      { type: 'CaseReleased', data: { member_id: ann, reason: 'deactivated' } },
    ]);
  matchAll(t, eventsOf(accepted(), leave(author)), [{ type: 'CaseAuthorLeft' }]);
  t.same(eventsOf(accepted(), leave(ann)), []);
  t.same(eventsOf(claimed(), leave(bob)), []);
});
