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
