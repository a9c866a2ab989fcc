import type pg from 'pg';
import type { Role } from '../../../domain/permissions.ts';
import type { Handlers } from '../../../platform/http/route.ts';
import { DEAD_LETTERS, type JobsRow, waitingJobs } from '../../../platform/jobs/queues.ts';
import { query } from '../../../platform/postgres/query.ts';
import { refuse } from '../../../platform/refusal.ts';
import {
  type ArrivalsRow,
  arrivalsByHour,
  type DecisionsRow,
  type DepthRow,
  decisionsIn,
  type FindingRow,
  findingsOfDecided,
} from '../../../projections/moderation/review-stats.ts';
import { MAX_DAYS, type Stats, type statsContract } from './contract.ts';
import { createDepthReader } from './queue-depth.ts';
import { type QueueHourRow, queueHours } from './queue-hours.ts';

const DAY_MS = 86_400_000;
const USUAL_DAYS = 7;

export function statsHandlers({ pool }: { pool: pg.Pool }): Handlers<typeof statsContract> {
  const readDepth = createDepthReader(pool);
  return {
    'moderation.stats': async ({ query: asked }) => {
      const depth = await readDepth();
      const to = asked.to ?? depth.now;
      const from = asked.from ?? new Date(to.getTime() - USUAL_DAYS * DAY_MS);
      const message = rangeFault(from, to);
      if (message) return refuse('invalid_request', { issues: [{ path: 'from', message }] });
      const [arrivals, decided, findings, jobs, hours] = await Promise.all([
        query(pool, arrivalsByHour(from, to)),
        query(pool, decisionsIn(from, to)),
        query(pool, findingsOfDecided(from, to)),
        query(pool, waitingJobs()),
        query(pool, queueHours(from, to)),
      ]);
      const body = statsBody(from, to, depth, arrivals, decided, findings);
      return {
        status: 200,
        body: { ...body, jobs: jobsBody(jobs), waiting_by_hour: hours.map(queueHourBody) },
      };
    },
  };
}

/** The waiting and dead jobs, which distinguish an empty queue from a broken one. */
function jobsBody(rows: JobsRow[]): Stats['jobs'] {
  const of = (name: string) => rows.find(({ queue }) => queue === name)?.jobs ?? 0;
  return { screening: of('screen-note'), dead: of(DEAD_LETTERS) };
}

const queueHourBody = (row: QueueHourRow): Stats['waiting_by_hour'][number] => ({
  hour: row.hour.toISOString(),
  waiting: row.waiting,
  oldest_age_seconds: row.oldest_seconds,
});

function rangeFault(from: Date, to: Date): string | undefined {
  if (from >= to) return 'must be before to';
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS)
    return `must be at most ${MAX_DAYS} days before to`;
  return undefined;
}

function statsBody(
  from: Date,
  to: Date,
  depth: DepthRow,
  arrivals: ArrivalsRow[],
  decided: DecisionsRow[],
  findings: FindingRow[],
): Omit<Stats, 'jobs' | 'waiting_by_hour'> {
  const byDay = sumBy(arrivals, ({ hour }) => utcDay(hour));
  const dayOf = (date: string) => decided.find(({ of, day }) => of === 'day' && day === date);
  return {
    status: 'ok',
    from: from.toISOString(),
    to: to.toISOString(),
    depth: {
      pending: depth.pending,
      past_due: depth.past_due,
      oldest_age_seconds: depth.oldest_seconds,
      reported: depth.reported,
    },
    arrivals: arrivals.reduce((sum, row) => sum + row.arrivals, 0),
    ...figures(decided.find(({ of }) => of === 'all')),
    days: daysOf(from, to).map((date) => ({
      date,
      arrivals: byDay.get(date) ?? 0,
      ...figures(dayOf(date)),
    })),
    arrivals_by_hour: hoursBody(arrivals),
    findings: findings.map(({ code, flagged, confirmed }) => ({
      code,
      flagged,
      confirmed,
      precision: rate(confirmed, flagged),
    })),
    moderators: decided
      .filter(({ of }) => of === 'moderator')
      .map((row) => ({
        moderator: row.moderator_id
          ? { id: row.moderator_id, name: row.name ?? '', role: row.role as Role }
          : null,
        ...figures(row),
      })),
  };
}

function figures(row: DecisionsRow | undefined) {
  const { approved = 0, rejected = 0, removed = 0, overturned = 0 } = row ?? {};
  return {
    decisions: row?.decisions ?? 0,
    approved,
    rejected,
    removed,
    overturned,
    overturn_rate: rate(overturned, approved + rejected + removed),
    age_seconds: spread(row?.age),
    handling_seconds: spread(row?.handling),
  };
}

const rate = (part: number, whole: number) => (whole > 0 ? part / whole : null);

function spread(figures: DecisionsRow['age'] | undefined) {
  const [p50, p95, max] = figures ?? [];
  return p50 == null || p95 == null || max == null ? null : { p50, p95, max };
}

/** Every UTC day that overlaps the period. */
function daysOf(from: Date, to: Date): string[] {
  const days: string[] = [];
  const first = Math.floor(from.getTime() / DAY_MS) * DAY_MS;
  for (let at = first; at < to.getTime(); at += DAY_MS) days.push(utcDay(new Date(at)));
  return days;
}

const utcDay = (at: Date): string => at.toISOString().slice(0, 10);

/** The number of the hour in UTC, from Monday at midnight. */
const hourOfWeek = (at: Date): number => ((at.getUTCDay() + 6) % 7) * 24 + at.getUTCHours();

const hoursBody = (arrivals: readonly ArrivalsRow[]): Stats['arrivals_by_hour'] =>
  [...sumBy(arrivals, ({ hour }) => hourOfWeek(hour))]
    .sort(([one], [other]) => one - other)
    .map(([hour, count]) => ({
      weekday: Math.floor(hour / 24) + 1,
      hour: hour % 24,
      arrivals: count,
    }));

function sumBy<Key>(rows: readonly ArrivalsRow[], keyOf: (row: ArrivalsRow) => Key) {
  const sums = new Map<Key, number>();
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.arrivals);
  return sums;
}
