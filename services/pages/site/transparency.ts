import type { Reader } from '../../../platform/http/reader.ts';
import type { Week } from '../../transparency/contract.ts';
import type { Page } from '../view.ts';
import { address } from './lists.ts';
import { readBody } from './page-reads.ts';

type Query = {
  cursor?: string | undefined;
  limit?: number;
};

export const readWeeks = (reader: Reader, query: Query) =>
  readBody(reader, 'transparency.list', { query });

export async function transparencyPage(reader: Reader, { cursor }: Query): Promise<Page> {
  const { weeks, next_cursor } = await readWeeks(reader, { cursor });
  const older = next_cursor ? address('/transparency', { cursor: next_cursor }) : undefined;
  const csv = address('/transparency.csv', { cursor });
  return {
    head: {
      title: 'Transparency',
      description: 'What moderators decided by week and policy, how fast, and how appeals ended.',
      path: address('/transparency', { cursor }),
      alternates: [
        {
          type: 'application/json',
          href: address('/api/transparency', { cursor }),
          title: 'As JSON',
        },
        { type: 'text/csv', href: csv, title: 'As CSV' },
      ],
      older,
    },
    view: { kind: 'transparency', weeks, csv, older },
  };
}

const HEAD = ['week', 'from', 'measure', 'policy', 'value'];

/**
 * Weeks as CSV (RFC 4180), one value a line: tables and pivots take this form, and a measure that is
 * added later changes no column.
 */
export function weeksAsCsv(weeks: readonly Week[]): string {
  const lines = weeks.flatMap((week) =>
    valuesOf(week).map(([measure, policy, value]) => [
      week.week,
      week.from,
      measure,
      policy,
      String(value),
    ]),
  );
  return [HEAD, ...lines].map((line) => `${line.map(quoted).join(',')}\r\n`).join('');
}

function valuesOf(week: Week): [measure: string, policy: string, value: number][] {
  const { notes, records, appeals, policies, time_to_decision_seconds: time } = week;
  const named = (prefix: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([name, value]): [string, string, number] => [
      `${prefix}_${name}`,
      '',
      value,
    ]);
  return [
    ['decisions', '', week.decisions],
    ...named('notes', notes),
    ...named('records', records),
    ...policies.flatMap(({ policy, rejected, removed }): [string, string, number][] => [
      ['rejected', policy, rejected],
      ['removed', policy, removed],
    ]),
    ...named('appeals', appeals),
    ...named('seconds', time ?? {}),
  ];
}

/** A field in quotes where it needs them. */
const quoted = (field: string): string =>
  /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
