import { useEffect, useState } from 'preact/hooks';
import { serviceNow } from '../shared/clock.ts';
import { call, failureOf } from './api.ts';
import { Chart } from './chart.tsx';
import type { Stats as Figures } from './wire.ts';
import { countWords, failureWords, findingName, rateWords, spanWords } from './words.ts';

const SPANS = [7, 30, 90] as const;
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function Stats() {
  const [days, setDays] = useState<number>(7);
  const [figures, setFigures] = useState<Figures | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    let gone = false;
    const from = new Date(serviceNow() - days * 86_400_000).toISOString();
    call<Figures>('GET', `stats?from=${encodeURIComponent(from)}`).then(
      (found) => {
        if (gone) return;
        setFigures(found);
        setFault(null);
      },
      (error) => {
        if (!gone) setFault(failureWords(failureOf(error)));
      },
    );
    return () => {
      gone = true;
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
      {fault && (
        <p class="box bad" role="alert">
          {fault}
        </p>
      )}
      {!figures && !fault && <p class="hint">Loading…</p>}
      {figures && <Found figures={figures} />}
    </section>
  );
}

function Found({ figures }: { figures: Figures }) {
  const { depth, days, jobs } = figures;
  const labels = days.map(({ date }) => day.format(new Date(date)));
  return (
    <>
      <dl class="tiles">
        <Tile name="Waiting" value={countWords(depth.pending)} />
        <Tile
          name="Past due (24 h)"
          value={countWords(depth.past_due)}
          alert={depth.past_due > 0}
        />
        <Tile name="Oldest" value={spanWords(depth.oldest_age_seconds)} />
        <Tile name="Reported" value={countWords(depth.reported)} />
        <Tile name="Arrivals" value={countWords(figures.arrivals)} />
        <Tile name="Decisions" value={countWords(figures.decisions)} />
        <Tile name="Overturned" value={rateWords(figures.overturn_rate)} />
        <Tile name="Not screened yet" value={countWords(jobs.screening)} />
        <Tile name="Failed jobs" value={countWords(jobs.dead)} alert={jobs.dead > 0} />
      </dl>
      <div class="charts">
        <Chart
          title="Arrivals and decisions"
          kind="bars"
          labels={labels}
          words={(value) => (value === null ? '–' : countWords(value))}
          series={[
            { name: 'Arrivals', values: days.map(({ arrivals }) => arrivals), look: 'solid' },
            { name: 'Decisions', values: days.map(({ decisions }) => decisions), look: 'hatched' },
          ]}
        />
        <Chart
          title="Time to decision"
          kind="lines"
          labels={labels}
          words={spanWords}
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
          words={(value) => (value === null ? '–' : countWords(value))}
          series={[
            { name: 'Overturned', values: days.map(({ overturned }) => overturned), look: 'solid' },
          ]}
        />
      </div>
      <h3>Moderators</h3>
      <Table
        head={[
          'Moderator',
          'Decisions',
          'Overturned',
          'Time per decision (median)',
          '95th percentile',
        ]}
      >
        {figures.moderators.map(({ moderator, ...row }) => [
          moderator?.name ?? 'the service',
          countWords(row.decisions),
          rateWords(row.overturn_rate),
          spanWords(row.handling_seconds?.p50 ?? null),
          spanWords(row.handling_seconds?.p95 ?? null),
        ])}
      </Table>
      <h3>Findings</h3>
      <Table head={['Finding', 'Flagged', 'Rejected or removed', 'Precision']}>
        {figures.findings.map(({ code, flagged, confirmed, precision }) => [
          findingName(code),
          countWords(flagged),
          countWords(confirmed),
          rateWords(precision),
        ])}
      </Table>
    </>
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

function Table({ head, children }: { head: string[]; children: string[][] }) {
  if (children.length === 0) return <p class="hint">Nothing in this period.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll
    <section class="table-scroll" tabIndex={0} aria-label={head[0]}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {children.map(([first, ...rest]) => (
            <tr key={first}>
              <th scope="row">
                <bdi>{first}</bdi>
              </th>
              {rest.map((value, index) => (
                <td key={head[index + 1]}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
