import { useEffect, useState } from 'preact/hooks';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
// In UTC, like the times that the server renders on the same page.
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const exact = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

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
  return day.format(time);
}

export const fullTime = (time: Date): string => `${exact.format(time)} UTC`;

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
