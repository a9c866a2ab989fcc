import { reportsStream } from '../../domain/reports/reports.ts';
import { memberOwner } from '../../platform/eventstore/owner.ts';
import {
  reportedCaseNotesOf,
  reportersOfCaseNotes,
} from '../../projections/publications/record-reports.ts';
import { defineAccountClosure } from '../membership/account-closure.ts';

/**
 * Settles the reports on a member's case notes, which end with the account without an event. Those on
 * other records end with the event that ends the record.
 */
export const reportsClosure = defineAccountClosure({
  find: (memberId, _request, limit) => reportersOfCaseNotes(memberId, limit),
  load: (memberId, _request, limit) => reportedCaseNotesOf(memberId, limit),
  close: (memberId, rows) =>
    rows.map(({ note_id, version, reports }) => {
      const subject = { type: 'case_note' as const, id: note_id };
      return {
        owner: memberOwner(memberId),
        stream: reportsStream(subject),
        version,
        actor: { type: 'service' },
        events: [
          {
            type: 'RecordReportsResolved',
            data: { subject, outcome: 'withdrawn', reports },
            personal: null,
          },
        ],
      };
    }),
});
