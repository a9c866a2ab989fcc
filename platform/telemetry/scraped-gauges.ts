import { Gauge, type Registry } from 'prom-client';

/**
 * Gauges whose values are parts of one reading, which is made once for each scrape. A gauge that `gauge` registers has
 * no value if the reading fails, finds nothing, or lacks its part, because 0 would be a false claim.
 */
export function scrapedGauges<Reading>(
  registry: Registry,
  read: () => Promise<Reading | undefined>,
) {
  let pending: Promise<Reading | undefined> | undefined;
  const reading = () => {
    pending ??= read()
      .catch(() => undefined)
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
  function gauge(name: string, help: string, part: (of: Reading) => number | undefined): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const current = await reading();
        const value = current === undefined ? undefined : part(current);
        if (value === undefined) this.remove();
        else this.set(value);
      },
    });
  }
  return { gauge, reading };
}
