import { randomUUID } from 'node:crypto';
import t from 'tap';
import { courseOf } from '../../../domain/cases/case-course.ts';
import { ann, at, bob, caseId } from './case-setting.ts';

type Events = Parameters<typeof courseOf>[0];

/** An event of the case, recorded some seconds after the start. */
const event = (second: number, type: string, data: object = {}) => ({
  event_id: randomUUID(),
  recorded_at: at(second),
  type,
  personal: null,
  data: { case_id: caseId, members: [], ...data },
});

const lease = (memberId: string, second: number) => ({
  member_id: memberId,
  lease_seconds: 3600,
  lease_expires_at: at(second).toISOString(),
});

t.test('begins before the first event that is known', async (t) => {
  const events = [
    event(10, 'CaseLeaseExtended', lease(ann, 100)),
    event(20, 'CaseLeaseExtended', lease(ann, 200)),
    event(30, 'CaseReleased', { member_id: ann, reason: 'claimant' }),
  ] as unknown as Events;
  t.match(courseOf(events, false).spans, [
    { memberId: ann, openStart: true, from: at(10), until: at(30), end: 'released' },
  ]);
  const outcome = [event(5, 'CaseAccepted', { member_id: ann })] as unknown as Events;
  t.same(courseOf(outcome, false), { spans: [], steps: [] }, 'an end alone is no span');
});

t.test('ends a claim with its last lease, whether an event says so or not', async (t) => {
  const events = [
    event(0, 'CaseClaimed', lease(ann, 100)),
    event(50, 'CaseLeaseExtended', lease(ann, 150)),
  ] as unknown as Events;
  const [held] = courseOf(events, true).spans;
  t.match(held, { until: at(150), end: 'holds it' });
  const [ended] = courseOf(events, false).spans;
  t.match(ended, { until: at(150), end: 'lease ended' });
  const later = [
    ...events,
    event(900, 'CaseLeaseEnded', { member_id: ann, lease_expires_at: at(150).toISOString() }),
    event(900, 'CaseClaimed', lease(bob, 1900)),
    event(950, 'CaseWithdrawn', { reason: 'author' }),
  ] as unknown as Events;
  const { spans, steps } = courseOf(later, false);
  t.match(spans, [
    { memberId: ann, until: at(150), end: 'lease ended' },
    { memberId: bob, until: at(950), end: 'withdrawn' },
  ]);
  t.same(
    steps.map(({ at: when, memberId }) => [when, memberId]),
    [
      [at(0), ann],
      [at(150), ann],
      [at(900), bob],
      [at(950), null],
    ],
  );
});
