import type { Item } from './item.ts';

type Report = Item['reports'][number];

/** A report as a JSON row: its times are text. */
export type ReportJson = Omit<Report, 'id'> & { report_id: string };

/** SQL that selects the newest 20 reports of a table as the JSON array `list`. */
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
