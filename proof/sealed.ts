import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { sealLog } from '../domain/seal/jobs.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import { verifySeal } from '../services/seal/verify-seal.ts';

const INTERVAL_MS = 3000;
const STEP_MS = 500;
const REST_MS = 60_000;

const enqueue = (client: pg.ClientBase) =>
  client.query("INSERT INTO pgboss.job (name, data) VALUES ($1, '{}')", [sealLog.queue]);

/** Has the workers seal the log every few seconds, so that what is sealed is erased and struck by faults as well. */
export async function sealOften(
  url: () => string,
  until: number,
  now: () => number,
): Promise<void> {
  while (now() < until) {
    // The database may be gone at the moment.
    await withConnection(url(), enqueue).catch(() => undefined);
    await sleep(INTERVAL_MS);
  }
}

/** Waits until the workers have sealed everything; says what they have not. */
export function sealRest(url: string): Promise<string[]> {
  return withConnection(url, async (client) => {
    for (let waited = 0; ; waited += STEP_MS) {
      if (waited % INTERVAL_MS === 0) await enqueue(client);
      const { rows } = await client.query<{ end: string; sealed: string; refusal: string | null }>(
        `SELECT (SELECT max(position) FROM events) AS "end", coalesce(max(position), 0) AS sealed,
           max(refusal) AS refusal FROM seal_trees`,
      );
      const { end, sealed, refusal } = rows[0] ?? { end: '0', sealed: '0', refusal: null };
      if (refusal !== null) return [`nothing is signed: ${refusal}`];
      if (Number(sealed) >= Number(end)) return [];
      if (waited >= REST_MS) return [`the log ends at ${end}, but is sealed up to ${sealed}`];
      await sleep(STEP_MS);
    }
  });
}

/** How the log differs from its sealed tree. */
export async function sealFaults(url: string): Promise<string[]> {
  const report = await withConnection(clientConfig(url, 'proof'), verifySeal);
  if (!report) return ['nothing was sealed'];
  return report.fault === undefined ? [] : [report.fault];
}
