import type { Stats } from '../words/api-model.ts';
import { formatCount } from '../words/format.ts';
import { TableHead } from './figures-table.tsx';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);
const LABELLED_HOURS = 6;
const LEFT = 40;
const TOP = 4;
const CELL = { width: 15, height: 16 };
const WIDTH = LEFT + 24 * CELL.width;
const HEIGHT = TOP + 7 * CELL.height + 22;

interface HourChartProps {
  title: string;
  arrivals: Stats['arrivals_by_hour'];
}

/** A square for each hour of the week, the darker the more, with the same figures in a table below. */
export function HourChart({ title, arrivals }: HourChartProps) {
  const counts = new Array<number>(DAYS.length * HOURS.length).fill(0);
  for (const row of arrivals) counts[(row.weekday - 1) * HOURS.length + row.hour] = row.arrivals;
  const max = Math.max(...counts, 1);
  return (
    <figure class="chart hours">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={`${title}; the table below has the figures`}
      >
        {DAYS.map((day, row) => (
          <text key={day} class="axis end" x={LEFT - 8} y={TOP + (row + 0.5) * CELL.height + 4}>
            {day}
          </text>
        ))}
        {counts.map((count, hour) => (
          <rect
            key={hour}
            class="hour"
            fill-opacity={count / max}
            x={LEFT + (hour % 24) * CELL.width + 1}
            y={TOP + Math.floor(hour / 24) * CELL.height + 1}
            width={CELL.width - 2}
            height={CELL.height - 2}
          >
            <title>{`${DAYS[Math.floor(hour / 24)]} ${hourText(hour % 24)}: ${formatCount(count)}`}</title>
          </rect>
        ))}
        {HOURS.filter((hour) => hour % LABELLED_HOURS === 0).map((hour) => (
          <text key={hour} class="axis" x={LEFT + hour * CELL.width + 1} y={HEIGHT - 6}>
            {hourText(hour)}
          </text>
        ))}
      </svg>
      <details>
        <summary>{title} as a table</summary>
        <div class="table-scroll">
          <table>
            <TableHead names={['Hour', ...DAYS]} />
            <tbody>
              {HOURS.map((hour) => (
                <tr key={hour}>
                  <th scope="row">{hourText(hour)}</th>
                  {DAYS.map((day, row) => (
                    <td key={day}>{formatCount(counts[row * 24 + hour] ?? 0)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const hourText = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
