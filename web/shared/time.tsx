import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

/**
 * Whether times are in the reader's zone: where a script runs, once it has taken the page over. Until
 * then, and on pages without a script, they are in UTC, so that caches can keep a page for all readers.
 */
export const LocalTimes = createContext(false);

const PARTS = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  clock: { hour: '2-digit', minute: '2-digit' },
  zone: { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

type Part = keyof typeof PARTS;

/** The one form of times of all pages: 24 hours, and days with the name of their month. */
const formats = (timeZone?: string) => {
  const format = (part: Part) => new Intl.DateTimeFormat('en-GB', { ...PARTS[part], timeZone });
  return { day: format('day'), clock: format('clock'), zone: format('zone') };
};
const utc = formats('UTC');
const local = formats();

/** The day of a time in UTC, such as `26 Nov 2026`. */
export const dayOf = (at: string): string => utc.day.format(new Date(at));

/** Day and time with the zone, in the reader's zone: `26 Nov 2026, 06:41 GMT-5`. */
export const fullTime = (time: Date): string =>
  `${local.day.format(time)}, ${local.zone.format(time)}`;

/** The reader's zone, such as `Europe/Berlin`, or UTC. */
export const zoneName = (isLocal: boolean): string =>
  isLocal ? Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC';

function Time({ at, day }: { at: string; day: boolean }) {
  const isLocal = useContext(LocalTimes);
  const time = new Date(at);
  const { day: ofDay, clock } = isLocal ? local : utc;
  const shown = `${day ? `${ofDay.format(time)}, ` : ''}${clock.format(time)}`;
  return (
    <time dateTime={at} title={isLocal ? fullTime(time) : undefined}>
      {isLocal ? shown : `${shown} UTC`}
    </time>
  );
}

/** A day and a time of day. */
export const When = ({ at }: { at: string }) => <Time at={at} day />;

/** A time of day, below the heading of its day. */
export const TimeOfDay = ({ at }: { at: string }) => <Time at={at} day={false} />;

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const STEPS = [
  [60, 'second'],
  [60, 'minute'],
  [24, 'hour'],
  [7, 'day'],
] as const;

/** A relative time such as `3 minutes ago`, or a date if it is more than a week away. */
function relativeTime(time: Date, now: Date = new Date()): string {
  let amount = (time.getTime() - now.getTime()) / 1000;
  if (Math.abs(amount) < 45) return 'just now';
  for (const [size, unit] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return local.day.format(time);
}

/** A relative time that updates every minute. */
export function RelativeTime({ time }: { time: Date }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 60_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={time.toISOString()} title={fullTime(time)}>
      {relativeTime(time)}
    </time>
  );
}

/** Milliseconds by which this device's clock is ahead of the service's; 0 until known. */
let offsetMs = 0;

/** Sets the clock difference from the `Date` header; pass only responses that bypass caches. */
export function syncClock(headers: Headers): void {
  const date = Date.parse(headers.get('date') ?? '');
  if (!Number.isNaN(date)) offsetMs = Date.now() - date;
}

/** The current time by the service's clock, in Unix milliseconds. */
export const serviceNow = (): number => Date.now() - offsetMs;

/** Converts a service time to this device's clock, both in Unix milliseconds. */
export const toLocalTime = (at: number): number => at + offsetMs;
