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
