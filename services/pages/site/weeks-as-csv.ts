import type { Week } from '../../transparency/contract.ts';

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
