import type { Item } from './item.ts';

type Report = Item['reports'][number];

/** A report as its row comes in JSON: times are text. */
export type ReportJson = Omit<Report, 'id'> & { report_id: string };

/** Selects the newest twenty as `list`, from a table of reports. */
export const reportList = (table: string, where: string): string =>
  `SELECT json_agg(json_build_object('report_id', report_id,
      'member_id', member_id, 'reason', reason, 'details', details, 'state', state,
      'reported_at', reported_at) ORDER BY reported_at DESC) AS list
    FROM (SELECT * FROM ${table} WHERE ${where} ORDER BY reported_at DESC LIMIT 20) newest`;

export const reportBody = ({ report_id, reported_at, ...report }: ReportJson): Report => ({
  id: report_id,
  ...report,
  reported_at: new Date(reported_at).toISOString(),
});
