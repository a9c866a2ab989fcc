import { serviceNow } from '../../shared/time.tsx';
import { onPlainClick, viewAddress } from '../queue/address.ts';
import { countState } from '../queue/counts.ts';
import { showView } from '../queue/navigation.ts';
import { connectionState } from '../session/connection.ts';
import type { Stats } from '../words/api-model.ts';
import { formatCount, formatDuration, plural } from '../words/format.ts';
import { VIEW_NAMES } from '../words/labels.ts';
import { Grid, HEIGHT, LEFT, roundedUp, WIDTH, y } from './chart.tsx';
import { type Cells, FiguresTable } from './figures-table.tsx';
import { countMissing, toRuns, toWaitingHours, type WaitingHour } from './waiting-hours.ts';

const DAY_MS = 86_400_000;
const TITLE = 'Waiting, hour by hour (UTC)';
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const hourOfDay = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

interface WaitingChartProps {
  counted: Stats['waiting_by_hour'];
  /** How many days the page shows; the service keeps the counts of fourteen. */
  days: number;
}

/** How many notes waited, as a line with gaps where no worker counted, and links to what waits now. */
export function WaitingChart({ counted, days }: WaitingChartProps) {
  const hours = toWaitingHours(counted, days, serviceNow());
  return (
    <figure class="chart waiting">
      <figcaption>
        <h3>{TITLE}</h3>
        <WaitingNow />
      </figcaption>
      {hours.length === 0 ? (
        <p class="hint">Not counted yet: a worker counts every hour what waits.</p>
      ) : (
        <>
          <Plot hours={hours} />
          <p class="hint">{inWords(hours)}</p>
          <details>
            <summary>{TITLE} as a table</summary>
            <FiguresTable
              label={TITLE}
              head={['Day', 'Waiting', 'Oldest', 'Hours counted']}
              rows={toRows(hours)}
            />
          </details>
        </>
      )}
    </figure>
  );
}

/** Links to the views that together have what waits; a lead's To do has the escalated notes. */
function WaitingNow() {
  const { counts } = countState();
  const { me } = connectionState();
  if (!counts) return null;
  const views = ['todo', ...(me?.role === 'lead' ? [] : ['escalated']), 'deferred'] as const;
  return (
    <ul class="legend" aria-label="Waiting now">
      {(views as readonly ('todo' | 'escalated' | 'deferred')[]).map((view) => (
        <li key={view}>
          <a href={viewAddress(view)} onClick={onPlainClick(() => showView(view))}>
            {formatCount(counts[view])} {VIEW_NAMES[view].toLowerCase()}
          </a>
        </li>
      ))}
    </ul>
  );
}

function Plot({ hours }: { hours: readonly WaitingHour[] }) {
  const max = roundedUp(Math.max(...hours.map(({ waiting }) => waiting ?? 0)));
  const step = (WIDTH - LEFT) / hours.length;
  const x = (index: number) => LEFT + step * (index + 0.5);
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${TITLE}. ${inWords(hours)}`}>
      <Grid max={max} format={(value) => formatCount(Math.round(value ?? 0))} />
      <DayLabels hours={hours} x={x} />
      <g class="line solid">
        {toRuns(hours).map((run) => (
          <Run key={run[0]?.index} run={run} x={x} max={max} />
        ))}
      </g>
      {hours.map((hour, index) => (
        <rect
          key={hour.at}
          class="hour-of-queue"
          x={LEFT + step * index}
          y={0}
          width={step}
          height={HEIGHT}
        >
          <title>{hourInWords(hour)}</title>
        </rect>
      ))}
    </svg>
  );
}

interface RunProps {
  run: readonly { index: number; waiting: number }[];
  x: (index: number) => number;
  max: number;
}

/** A line through counts without a gap; a single count is a dot. */
function Run({ run, x, max }: RunProps) {
  const [first] = run;
  if (run.length === 1 && first)
    return <circle cx={x(first.index)} cy={y(first.waiting, max)} r="3" />;
  const points = run.map(({ index, waiting }) => `${x(index)} ${y(waiting, max)}`);
  return <path d={`M${points.join('L')}`} />;
}

/** How wide the name of a day is. */
const LABEL_WIDTH = 44;

/** The names of at most six days, each where it begins, if it has room there. */
function DayLabels({ hours, x }: { hours: readonly WaitingHour[]; x: (index: number) => number }) {
  const begins = hours.flatMap(({ at }, index) => (at % DAY_MS === 0 ? [{ at, index }] : []));
  const every = Math.ceil(begins.length / 6);
  return begins
    .filter(({ index }, nth) => nth % every === 0 && x(index) <= WIDTH - LABEL_WIDTH)
    .map(({ at, index }) => (
      <text key={at} class="axis" x={x(index)} y={HEIGHT - 6}>
        {day.format(at)}
      </text>
    ));
}

const hourInWords = ({ at, waiting }: WaitingHour): string =>
  `${hourOfDay.format(at)}: ${waiting === null ? 'not counted' : `${formatCount(waiting)} waiting`}`;

/** Such as `From 3 (24 Nov, 04:00) to 40 (25 Nov, 14:00). 5 hours were not counted: no worker ran.` */
function inWords(hours: readonly WaitingHour[]): string {
  const counted = hours.filter(({ waiting }) => waiting !== null);
  const sorted = counted.toSorted((one, other) => (one.waiting ?? 0) - (other.waiting ?? 0));
  const named = ({ at, waiting }: WaitingHour) =>
    `${formatCount(waiting ?? 0)} (${hourOfDay.format(at)})`;
  const [lowest, highest] = [sorted[0], sorted.at(-1)];
  const range =
    !lowest || !highest || lowest.waiting === highest.waiting
      ? `${formatCount(highest?.waiting ?? 0)} all the time`
      : `From ${named(lowest)} to ${named(highest)}`;
  const missing = countMissing(hours);
  const verb = missing === 1 ? 'was' : 'were';
  return missing === 0
    ? `${range}.`
    : `${range}. ${plural(missing, 'hour')} ${verb} not counted: no worker ran.`;
}

function toRows(hours: readonly WaitingHour[]): Cells[] {
  const first = hours.findIndex(({ waiting }) => waiting !== null);
  const days = Map.groupBy(hours.slice(first), ({ at }) => Math.floor(at / DAY_MS));
  return [...days].map(([number, those]) => {
    const counts = those.flatMap(({ waiting }) => waiting ?? []);
    const ages = those.flatMap(({ oldestSeconds }) => oldestSeconds ?? []);
    const [lowest, highest] = [Math.min(...counts), Math.max(...counts)];
    const range =
      lowest === highest ? formatCount(lowest) : `${formatCount(lowest)}–${formatCount(highest)}`;
    return [
      day.format(number * DAY_MS),
      counts.length > 0 ? range : '–',
      formatDuration(ages.length > 0 ? Math.max(...ages) : null),
      formatCount(counts.length),
    ];
  });
}
