/** By how many milliseconds this device's clock is ahead of the service's, as far as is known. */
let ahead = 0;

/** What an answer that comes from no cache says of the service's time. */
export function heardTime(headers: Headers): void {
  const date = Date.parse(headers.get('date') ?? '');
  if (!Number.isNaN(date)) ahead = Date.now() - date;
}

export const serviceNow = (): number => Date.now() - ahead;

/** A moment of the service's, in milliseconds, by this device's clock. */
export const byThisClock = (at: number): number => at + ahead;
