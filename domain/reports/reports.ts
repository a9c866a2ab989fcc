import type { Decider, EventsOrRefusal } from '../../platform/eventstore/decider.ts';
import type { NewEvent } from '../../platform/eventstore/event.ts';
import { refuse } from '../../platform/refusal.ts';
import type { ReportReason } from '../guestbook/words.ts';
import type { RecordType } from '../publications/words.ts';
import type * as events from './events.ts';

type ReportEvents = (typeof events)[keyof typeof events];

/** A published record. */
export interface SubjectId {
  type: RecordType;
  id: string;
}

export interface ReportsState {
  /** Report ids by reporter. They are kept permanently. */
  reporters: Readonly<Record<string, string>>;
  /** Reasons that a moderator has reviewed and dismissed. */
  dismissed: readonly string[];
}

interface Settled {
  report_id: string;
  member_id: string;
}

export type ReportsCommand =
  | {
      type: 'ReportRecord';
      subject: SubjectId;
      /** Whether the record is public now. */
      public: boolean;
      reportId: string;
      memberId: string;
      reason: ReportReason;
      details: string | null;
    }
  | {
      type: 'DismissReports';
      subject: SubjectId;
      /** The reports that wait for a review. */
      open: readonly (Settled & { reason: ReportReason })[];
      /** When the moderator claimed the record for review. */
      claimedAt: string | null;
    }
  | {
      type: 'ResolveReports';
      subject: SubjectId;
      outcome: 'kept' | 'removed' | 'withdrawn';
      reports: readonly Settled[];
    };

/** The reports on one record: one per reporter. A dismissed reason requests no new review. */
export const recordReports: Decider<ReportsState, ReportsCommand, ReportEvents, 'not_found'> = {
  initial: { reporters: {}, dismissed: [] },

  decide(state, command): EventsOrRefusal<ReportEvents, 'not_found'> {
    switch (command.type) {
      case 'ReportRecord': {
        if (!command.public) return refuse('not_found');
        if (command.memberId in state.reporters) return [];
        const { subject, reportId: report_id, memberId: member_id, reason, details } = command;
        const silent = state.dismissed.includes(reason);
        const data = { subject, report_id, member_id, reason, silent };
        return [{ type: 'RecordReported', data, personal: { details } }];
      }
      case 'DismissReports':
        return dismissReports(command);
      case 'ResolveReports':
        return resolveReports(command);
    }
  },

  evolve(state, event) {
    if (event.type === 'RecordReported') {
      const { member_id, report_id } = event.data;
      return { ...state, reporters: { ...state.reporters, [member_id]: report_id } };
    }
    if (event.type !== 'RecordReportsDismissed') return state;
    return { ...state, dismissed: [...state.dismissed, ...event.data.reasons] };
  },
};

type Command<Type extends ReportsCommand['type']> = Omit<
  Extract<ReportsCommand, { type: Type }>,
  'type'
>;

/** Dismisses the reports that wait for a review. This depends on no earlier report. */
export function dismissReports({
  subject,
  open,
  claimedAt: claimed_at,
}: Command<'DismissReports'>): NewEvent<ReportEvents>[] {
  if (open.length === 0) return [];
  const reasons = [...new Set(open.map(({ reason }) => reason))];
  const data = { subject, reports: open.map(settled), reasons, claimed_at };
  return [{ type: 'RecordReportsDismissed', data, personal: null }];
}

/** Records what became of these reports. This depends on no earlier report. */
export function resolveReports({
  subject,
  outcome,
  reports,
}: Command<'ResolveReports'>): NewEvent<ReportEvents>[] {
  if (reports.length === 0) return [];
  const data = { subject, outcome, reports: reports.map(settled) };
  return [{ type: 'RecordReportsResolved', data, personal: null }];
}

const settled = ({ report_id, member_id }: Settled): Settled => ({ report_id, member_id });

/** The stream that holds the reports on a record. */
export const reportsStream = ({ type, id }: SubjectId): string => `report-${type}-${id}`;
