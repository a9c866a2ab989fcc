import type pg from 'pg';
import type { Config } from '../../platform/config.ts';
import { type Handlers, implement, type Routes } from '../../platform/http/route.ts';
import { START_OLDEST, toKeysetPosition, toPage } from '../../platform/keyset-cursor.ts';
import { query } from '../../platform/postgres/query.ts';
import { snapshot } from '../../platform/postgres/reads.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  agesOfWeeks,
  countsOfWeeks,
  publishedWeeks,
  type WeekAgeRow,
  type WeekCountRow,
} from '../../projections/moderation/moderation-weeks.ts';
import { transparencyContract, type Week } from './contract.ts';

export interface TransparencyDeps {
  config: Pick<Config, 'undoWindowSeconds'>;
  readPool: pg.Pool;
}

function transparencyHandlers({
  config,
  readPool,
}: TransparencyDeps): Handlers<typeof transparencyContract> {
  return {
    'transparency.list': async ({ query: { cursor, limit } }) => {
      const place = toKeysetPosition('transparency', cursor);
      if (isRefusal(place)) return place;
      const [published] = await query(readPool, publishedWeeks(config.undoWindowSeconds));
      const { first = null, open = '' } = published ?? {};
      const after = place && place.at.slice(0, 10) < open ? place.at.slice(0, 10) : open;
      const mondays = mondaysBetween(first, after, limit + 1);
      const page = toPage('transparency', mondays, limit, (monday) => ({
        at: `${monday}T00:00:00.000000Z`,
        id: START_OLDEST.id,
      }));
      const from = page.rows.at(-1) ?? after;
      const [counts, ages] = await snapshot<[WeekCountRow, WeekAgeRow]>(readPool, [
        countsOfWeeks(from, after),
        agesOfWeeks(from, after),
      ]);
      const countsByWeek = Map.groupBy(counts, ({ week }) => week);
      const ageByWeek = new Map(ages.map((row) => [row.week, row]));
      const weeks = page.rows.map((monday) =>
        weekBody(monday, countsByWeek.get(monday) ?? [], ageByWeek.get(monday)),
      );
      return { status: 200, body: { status: 'ok', weeks, ...page.next } };
    },
  };
}

/** At most `limit` Mondays before `end`, newest first, down to `first`. */
function mondaysBetween(first: string | null, end: string, limit: number): string[] {
  const mondays: string[] = [];
  if (first === null) return mondays;
  for (let monday = mondayBefore(end); monday >= first; monday = mondayBefore(monday)) {
    if (mondays.length === limit) break;
    mondays.push(monday);
  }
  return mondays;
}

function weekBody(monday: string, counts: WeekCountRow[], age: WeekAgeRow | undefined): Week {
  const sum = (outcome: string, is: (row: WeekCountRow) => boolean = () => true): number =>
    counts.reduce(
      (total, row) => (row.outcome === outcome && is(row) ? total + row.count : total),
      0,
    );
  const answersOn = (subject: WeekCountRow['subject']) => {
    const of = (row: WeekCountRow) => row.subject === subject;
    return { removed: sum('removed', of), restored: sum('restored', of), kept: sum('kept', of) };
  };
  const notes = { approved: sum('approved'), rejected: sum('rejected'), ...answersOn('note') };
  const records = answersOn('record');
  const policies = [...new Set(counts.map(({ policy }) => policy))].filter((code) => code !== '');
  return {
    week: weekName(monday),
    from: monday,
    decisions: [...Object.values(notes), ...Object.values(records)].reduce((a, b) => a + b, 0),
    notes,
    records,
    policies: policies.sort().map((policy) => {
      const of = (row: WeekCountRow) => row.policy === policy;
      return { policy, rejected: sum('rejected', of), removed: sum('removed', of) };
    }),
    appeals: { opened: sum('appealed'), granted: sum('granted'), upheld: sum('upheld') },
    time_to_decision_seconds: age ? { median: age.median, p90: age.p90 } : null,
  };
}

export const routes = (deps: TransparencyDeps): readonly Routes[] => [
  implement(transparencyContract, transparencyHandlers(deps)),
];

const DAY_MS = 86_400_000;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The Monday a week before another one. */
export const mondayBefore = (monday: string): string => dateOf(Date.parse(monday) - 7 * DAY_MS);

/** The name by ISO 8601 of the week that begins on this Monday: its Thursday decides on the year. */
export function weekName(monday: string): string {
  const thursday = new Date(Date.parse(monday) + 3 * DAY_MS);
  const year = thursday.getUTCFullYear();
  const days = (thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS;
  return `${year}-W${String(Math.floor(days / 7) + 1).padStart(2, '0')}`;
}
