import { compareClocks } from '../../platform/postgres/clock.ts';
import type { Context } from './connection.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Compares the database's clock, which decides on leases and retention, with that of this machine. */
export async function checkClock({ ask }: Pick<Context, 'ask'>): Promise<Finding[]> {
  const { text, differs } = await compareClocks(ask);
  return [
    differs ? warn(`${text}; on the one that is wrong`, 'timedatectl set-ntp true') : ok(text),
  ];
}
