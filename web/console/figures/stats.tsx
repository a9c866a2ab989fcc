import { useEffect, useState } from 'preact/hooks';
import { Alert } from '../../shared/live-region.tsx';
import { serviceNow } from '../../shared/time.tsx';
import { call } from '../session/moderation-api.ts';
import type { Stats as Figures } from '../words/api-model.ts';
import { failureText, toFailure } from '../words/failure.ts';
import { formatCount, formatDuration, formatRate } from '../words/format.ts';
import { findingName } from '../words/labels.ts';
import { Chart } from './chart.tsx';
import { type Cells, FiguresTable } from './figures-table.tsx';
import { HourChart } from './hour-chart.tsx';
import { WaitingChart } from './waiting-chart.tsx';

const SPANS = [7, 30, 90] as const;
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function Stats() {
  const [days, setDays] = useState<number>(7);
  const [figures, setFigures] = useState<Figures | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let unmounted = false;
    const from = new Date(serviceNow() - days * 86_400_000).toISOString();
    call<Figures>('GET', `stats?from=${encodeURIComponent(from)}`).then(
      (found) => {
        if (unmounted) return;
        setFigures(found);
        setFault(null);
      },
      (error) => {
        if (!unmounted) setFault(failureText(toFailure(error)));
      },
    );
    return () => {
      unmounted = true;
    };
  }, [days]);
  return (
    <section class="page" aria-labelledby="page-title">
      <div class="list-line">
        <h2 id="page-title" tabIndex={-1}>
          Stats
        </h2>
        <label class="span">
          Last{' '}
          <select
            class="input"
            value={days}
            onChange={(event) => setDays(Number(event.currentTarget.value))}
          >
            {SPANS.map((span) => (
              <option key={span} value={span}>
                {span} days
              </option>
            ))}
          </select>
        </label>
      </div>
      {fault && <Alert>{fault}</Alert>}
      {!figures && !fault && <p class="hint">Loading…</p>}
      {figures && <FigureList figures={figures} days={days} />}
    </section>
  );
}

interface FiguresProps {
  figures: Figures;
}

function FigureList({ figures, days }: FiguresProps & { days: number }) {
  return (
    <>
      <Tiles figures={figures} />
      <div class="charts">
        <WaitingChart counted={figures.waiting_by_hour} days={days} />
        <Charts days={figures.days} />
      </div>
      <HourChart title="Arrivals by hour of the week (UTC)" arrivals={figures.arrivals_by_hour} />
      <h3>Moderators</h3>
      <ModeratorTable moderators={figures.moderators} />
      <h3>Findings</h3>
      <FindingTable findings={figures.findings} />
    </>
  );
}

function Tiles({ figures }: FiguresProps) {
  const { depth, jobs } = figures;
  return (
    <dl class="tiles">
      <Tile name="Waiting" value={formatCount(depth.pending)} />
      <Tile name="Past due (24 h)" value={formatCount(depth.past_due)} alert={depth.past_due > 0} />
      <Tile name="Oldest" value={formatDuration(depth.oldest_age_seconds)} />
      <Tile name="Reported" value={formatCount(depth.reported)} />
      <Tile name="Arrivals" value={formatCount(figures.arrivals)} />
      <Tile name="Decisions" value={formatCount(figures.decisions)} />
      <Tile name="Overturned" value={formatRate(figures.overturn_rate)} />
      <Tile name="Not screened yet" value={formatCount(jobs.screening)} />
      <Tile name="Failed jobs" value={formatCount(jobs.dead)} alert={jobs.dead > 0} />
    </dl>
  );
}

function Tile({ name, value, alert = false }: { name: string; value: string; alert?: boolean }) {
  return (
    <div class={alert ? 'tile alert' : 'tile'}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

const formatCountOrDash = (value: number | null) => (value === null ? '–' : formatCount(value));

function Charts({ days }: Pick<Figures, 'days'>) {
  const labels = days.map(({ date }) => day.format(new Date(date)));
  return (
    <>
      <Chart
        title="Arrivals and decisions"
        kind="bars"
        labels={labels}
        format={formatCountOrDash}
        series={[
          { name: 'Arrivals', values: days.map(({ arrivals }) => arrivals), look: 'solid' },
          { name: 'Decisions', values: days.map(({ decisions }) => decisions), look: 'hatched' },
        ]}
      />
      <Chart
        title="Time to decision"
        kind="lines"
        labels={labels}
        format={formatDuration}
        series={[
          {
            name: 'Median',
            values: days.map(({ age_seconds }) => age_seconds?.p50 ?? null),
            look: 'solid',
          },
          {
            name: '95th percentile',
            values: days.map(({ age_seconds }) => age_seconds?.p95 ?? null),
            look: 'hatched',
          },
        ]}
      />
      <Chart
        title="Overturned decisions"
        kind="bars"
        labels={labels}
        format={formatCountOrDash}
        series={[
          { name: 'Overturned', values: days.map(({ overturned }) => overturned), look: 'solid' },
        ]}
      />
    </>
  );
}

function ModeratorTable({ moderators }: Pick<Figures, 'moderators'>) {
  return (
    <Table
      head={[
        'Moderator',
        'Decisions',
        'Overturned',
        'Time per decision (median)',
        '95th percentile',
      ]}
    >
      {moderators.map(({ moderator, ...row }) => [
        moderator?.name ?? 'the service',
        formatCount(row.decisions),
        formatRate(row.overturn_rate),
        formatDuration(row.handling_seconds?.p50 ?? null),
        formatDuration(row.handling_seconds?.p95 ?? null),
      ])}
    </Table>
  );
}

function FindingTable({ findings }: Pick<Figures, 'findings'>) {
  return (
    <Table head={['Finding', 'Flagged', 'Rejected or removed', 'Precision']}>
      {findings
        .toSorted((one, other) => other.flagged - one.flagged)
        .map(({ code, flagged, confirmed, precision }) => [
          findingName(code),
          formatCount(flagged),
          formatCount(confirmed),
          <Bar key={code} share={precision} />,
        ])}
    </Table>
  );
}

/** A share with a bar of its length. */
function Bar({ share }: { share: number | null }) {
  return (
    <span class="share">
      <span class="meter" aria-hidden="true">
        <span style={{ inlineSize: `${100 * (share ?? 0)}%` }} />
      </span>
      {formatRate(share)}
    </span>
  );
}

function Table({ head, children }: { head: string[]; children: Cells[] }) {
  if (children.length === 0) return <p class="hint">Nothing in this period.</p>;
  return <FiguresTable label={head[0]} head={head} rows={children} />;
}
