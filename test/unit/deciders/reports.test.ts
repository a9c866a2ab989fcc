import t from 'tap';
import type { ReportReason } from '../../../domain/guestbook/words.ts';
import { type ReportsCommand, recordReports } from '../../../domain/reports/reports.ts';
import { replay } from '../../../platform/eventstore/decider.ts';
import { isRefusal } from '../../../platform/refusal.ts';
import { matchAll } from '../../support/match-all.ts';

const subject = { type: 'profile' as const, id: '2d8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f62' };
const [ann, bob, eve] = [
  '0b8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f60',
  '3e8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f63',
  '5a8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f65',
];

const report = (memberId: string, reason: ReportReason, isPublic = true): ReportsCommand => ({
  type: 'ReportRecord',
  subject,
  public: isPublic,
  reportId: '4f8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f64',
  memberId,
  reason,
  details: 'Look',
});
const dismiss = (memberId: string, reason: ReportReason): ReportsCommand => ({
  type: 'DismissReports',
  subject,
  open: [{ report_id: '4f8f9a52-0f3a-4a51-8f0e-1d2c3b4a5f64', member_id: memberId, reason }],
  claimedAt: null,
});

/** The events of the last command. */
function after(...commands: ReportsCommand[]) {
  let state = recordReports.initial;
  let last: ReturnType<typeof recordReports.decide> = [];
  for (const command of commands) {
    last = recordReports.decide(state, command);
    if (!isRefusal(last)) state = replay({ ...recordReports, initial: state }, last);
  }
  return last;
}

t.test('accepts one report per member on a record, whatever became of it', async (t) => {
  matchAll(t, after(report(ann, 'spam')), [
    { data: { silent: false }, personal: { details: 'Look' } },
  ]);
  t.same(after(report(ann, 'spam'), report(ann, 'abuse')), []);
  t.same(after(report(ann, 'spam'), dismiss(ann, 'spam'), report(ann, 'abuse')), []);
  matchAll(t, after(report(ann, 'spam'), report(bob, 'spam')), [{ data: { member_id: bob } }]);
});

t.test('keeps a dismissed reason silent, but not a new one', async (t) => {
  const dismissed = [report(ann, 'spam'), dismiss(ann, 'spam')];
  matchAll(t, after(...dismissed, report(bob, 'spam')), [{ data: { silent: true } }]);
  matchAll(t, after(...dismissed, report(bob, 'privacy')), [{ data: { silent: false } }]);
  const twice = [...dismissed, report(bob, 'privacy'), dismiss(bob, 'privacy')];
  for (const reason of ['spam', 'privacy'] as const)
    matchAll(t, after(...twice, report(eve, reason)), [{ data: { silent: true } }]);
});

t.test('refuses a report on a record that is not public', async (t) => {
  t.match(after(report(ann, 'spam', false)), { refused: 'not_found' });
  t.match(after(report(ann, 'spam'), report(ann, 'spam', false)), { refused: 'not_found' });
});

t.test("keeps a report's text as personal data and settles nothing twice", async (t) => {
  const [event] = after(report(ann, 'spam')) as { data: object }[];
  t.notMatch(JSON.stringify(event?.data), 'Look');
  t.same(after({ type: 'DismissReports', subject, open: [], claimedAt: null }), []);
  t.same(after({ type: 'ResolveReports', subject, outcome: 'removed', reports: [] }), []);
});
