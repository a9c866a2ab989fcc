/** Milliseconds by which this device's clock is ahead of the service's; 0 until known. */
let ahead = 0;

/** Sets the clock difference from the `Date` header; pass only responses that bypass caches. */
export function heardTime(headers: Headers): void {
  const date = Date.parse(headers.get('date') ?? '');
  if (!Number.isNaN(date)) ahead = Date.now() - date;
}

/** The current time by the service's clock, in Unix milliseconds. */
export const serviceNow = (): number => Date.now() - ahead;

/** Converts a service time to this device's clock, both in Unix milliseconds. */
export const byThisClock = (at: number): number => at + ahead;
