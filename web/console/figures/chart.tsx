import { TableHead } from './figures-table.tsx';

interface Series {
  name: string;
  values: readonly (number | null)[];
  /** Tells series apart without colour: `hatched` bars are hatched, `hatched` lines dashed. */
  look: 'solid' | 'hatched';
}

interface ChartProps {
  title: string;
  kind: 'bars' | 'lines';
  labels: readonly string[];
  series: readonly Series[];
  format: (value: number | null) => string;
}

export const WIDTH = 400;
export const HEIGHT = 160;
export const LEFT = 56;
const BOTTOM = 24;
const TOP = 10;

const barHeight = (value: number, max: number) => ((HEIGHT - BOTTOM - TOP) * value) / max;
export const y = (value: number, max: number) => HEIGHT - BOTTOM - barHeight(value, max);

/** Rounds up to 1, 2, 5 or 10 times a power of ten, as the top of the axis. */
export function roundedUp(max: number): number {
  if (max <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  return ([1, 2, 5, 10].find((step) => step * power >= max) ?? 10) * power;
}

/** A small chart, with the same figures in a table that can be opened below. */
export function Chart(props: ChartProps) {
  const { title, kind, series } = props;
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        <ul class="legend">
          {series.map(({ name, look }) => (
            <li key={name}>
              <span class={`swatch ${kind} ${look}`} aria-hidden="true" /> {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <Plot {...props} />
      <details>
        <summary>{title} as a table</summary>
        <FigureTable {...props} />
      </details>
    </figure>
  );
}

function Plot({ title, kind, labels, series, format }: ChartProps) {
  const all = series.flatMap(({ values }) => values.map((value) => value ?? 0));
  const max = roundedUp(Math.max(...all, 0));
  const step = (WIDTH - LEFT) / Math.max(labels.length, 1);
  const hatchId = `hatch-${title.replaceAll(' ', '-')}`;
  const Marks = kind === 'bars' ? Bars : Lines;
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${title}; the table below has the figures`}
    >
      <defs>
        <pattern
          id={hatchId}
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect width="3" height="6" class="hatch" />
        </pattern>
      </defs>
      <Grid max={max} format={format} />
      <DayLabels labels={labels} step={step} />
      <Marks labels={labels} series={series} step={step} max={max} hatchId={hatchId} />
    </svg>
  );
}

export function Grid({ max, format }: Pick<ChartProps, 'format'> & { max: number }) {
  return [0, 0.5, 1].map((part) => (
    <g key={part}>
      <line class="grid" x1={LEFT} x2={WIDTH} y1={y(part * max, max)} y2={y(part * max, max)} />
      <text class="axis end" x={LEFT - 8} y={y(part * max, max) + 4}>
        {format(part * max)}
      </text>
    </g>
  ));
}

/** The names of at most six days; one at the right edge ends there. */
function DayLabels({ labels, step }: Pick<ChartProps, 'labels'> & { step: number }) {
  const every = Math.ceil(labels.length / 6);
  return labels.map((label, index) => {
    if (index % every !== 0) return null;
    const middle = LEFT + step * (index + 0.5);
    const atEdge = middle > WIDTH - 22;
    return (
      <text
        key={label}
        class={`axis ${atEdge ? 'end' : 'middle'}`}
        x={atEdge ? WIDTH : middle}
        y={HEIGHT - 6}
      >
        {label}
      </text>
    );
  });
}

interface MarksProps extends Pick<ChartProps, 'labels' | 'series'> {
  /** Width of a day. */
  step: number;
  /** Value at the top of the axis. */
  max: number;
  hatchId: string;
}

function Bars({ labels, series, step, max, hatchId }: MarksProps) {
  const width = (step * 0.7) / series.length;
  return series.map(({ name, values, look }, nth) =>
    values.map((value, index) => (
      <rect
        key={`${name} ${labels[index]}`}
        class={`bar ${look}`}
        fill={look === 'hatched' ? `url(#${hatchId})` : undefined}
        x={LEFT + step * (index + 0.15) + width * nth}
        width={Math.max(width - 1, 1)}
        y={y(value ?? 0, max)}
        height={barHeight(value ?? 0, max)}
      />
    )),
  );
}

function Lines({ labels, series, step, max }: MarksProps) {
  return series.map(({ name, values, look }) => (
    <g key={name} class={`line ${look}`}>
      <path d={linePath(values, step, max)} />
      {values.map((value, index) =>
        value === null ? null : (
          <circle key={labels[index]} cx={LEFT + step * (index + 0.5)} cy={y(value, max)} r="3" />
        ),
      )}
    </g>
  ));
}

/** The SVG path of a line, with gaps at missing values. */
function linePath(values: readonly (number | null)[], step: number, max: number): string {
  return values
    .map((value, index) => {
      if (value === null) return '';
      const begins = index === 0 || values[index - 1] === null;
      return `${begins ? 'M' : 'L'}${LEFT + step * (index + 0.5)} ${y(value, max)}`;
    })
    .join('');
}

function FigureTable({ labels, series, format }: ChartProps) {
  return (
    <div class="table-scroll">
      <table>
        <TableHead names={['Day', ...series.map(({ name }) => name)]} />
        <tbody>
          {labels.map((label, index) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {series.map(({ name, values }) => (
                <td key={name}>{format(values[index] ?? null)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
