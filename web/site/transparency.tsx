import type { TransparencyWeek, ViewOf } from '../../services/pages/view.ts';
import { dayOf } from '../shared/time.tsx';
import { Empty, Pager } from './parts.tsx';

type Column = readonly [name: string, value: (week: TransparencyWeek) => number | string];

const sumOf = (outcome: 'removed' | 'restored' | 'kept') => (week: TransparencyWeek) =>
  week.notes[outcome] + week.records[outcome];

const OUTCOMES: readonly Column[] = [
  ['Approved', ({ notes }) => notes.approved],
  ['Rejected', ({ notes }) => notes.rejected],
  ['Removed', sumOf('removed')],
  ['Restored', sumOf('restored')],
  ['Kept', sumOf('kept')],
  ['Median time', ({ time_to_decision_seconds: time }) => duration(time?.median)],
  ['90 % within', ({ time_to_decision_seconds: time }) => duration(time?.p90)],
];

const APPEALS: readonly Column[] = [
  ['Opened', ({ appeals }) => appeals.opened],
  ['Granted', ({ appeals }) => appeals.granted],
  ['Upheld', ({ appeals }) => appeals.upheld],
];

const policyColumn = (code: string): Column => [
  code,
  ({ policies }) => {
    const found = policies.find(({ policy }) => policy === code);
    return (found?.rejected ?? 0) + (found?.removed ?? 0);
  },
];

export function Transparency({ weeks, csv, older }: ViewOf<'transparency'>) {
  const codes = new Set(weeks.flatMap(({ policies }) => policies.map(({ policy }) => policy)));
  return (
    <>
      <h1>Transparency</h1>
      <p class="lead">
        What moderators decided, by week, and how long authors and reporters waited. The same as{' '}
        <a href="/api/transparency">JSON</a> and <a href={csv}>CSV</a>.
      </p>
      {weeks.length === 0 ? (
        <Empty>No week with a decision is over yet.</Empty>
      ) : (
        <>
          <Figures title="Decisions" columns={OUTCOMES} weeks={weeks} />
          {codes.size > 0 && (
            <Figures
              title="Rejections and removals by policy"
              columns={[...codes].sort().map(policyColumn)}
              weeks={weeks}
            />
          )}
          <Figures title="Appeals" columns={APPEALS} weeks={weeks} />
        </>
      )}
      <h2>What is counted</h2>
      <ul class="bullets">
        <li>
          Decisions on notes, profiles, packets, cases and notes on cases. Kept means that a
          reported text stays public.
        </li>
        <li>
          A week, Monday to Sunday in UTC, is listed once none of its decisions can be undone by its
          moderator any more. A decision that was undone is not counted.
        </li>
        <li>
          Time runs from the arrival of a note, or from the oldest report, to the decision. It is
          rounded down to two digits.
        </li>
        <li>
          Decisions on memberships are not counted, because a small number could show whose
          membership it was.
        </li>
        <li>
          The policies are in <a href="/about">About and policy</a>.
        </li>
      </ul>
      <Pager older={older} word="Earlier weeks" />
    </>
  );
}

interface FiguresProps {
  title: string;
  columns: readonly Column[];
  weeks: readonly TransparencyWeek[];
}

function Figures({ title, columns, weeks }: FiguresProps) {
  return (
    <>
      <h2>{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls on narrow screens, also by keys */}
      <section class="figures" aria-label={`Table: ${title}`} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Week of</th>
              {columns.map(([name]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {weeks.map((week) => (
              <tr key={week.week}>
                <th scope="row">
                  <time dateTime={week.from}>{dayOf(week.from)}</time>
                </th>
                {columns.map(([name, value]) => (
                  <td key={name}>{value(week)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

const UNITS: readonly [seconds: number, name: string][] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** A time in its largest unit, of which it has at least two: 90 minutes are no 1 h. */
function duration(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  const [size, name] = UNITS.find(([size]) => seconds >= 2 * size) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${name}`;
}
