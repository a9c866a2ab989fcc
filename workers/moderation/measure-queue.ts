import { query } from '../../platform/postgres/query.ts';
import type { Core } from '../../services/compose.ts';
import { countQueueHour, dropOldQueueHours } from '../../services/moderation/stats/queue-hours.ts';

/** Notes how many notes wait in this hour, and drops old counts; returns the count, or null if the hour has one. */
export async function measureQueue({ pool }: Pick<Core, 'pool'>): Promise<number | null> {
  const [counted] = await query(pool, countQueueHour());
  await query(pool, dropOldQueueHours());
  return counted?.waiting ?? null;
}
