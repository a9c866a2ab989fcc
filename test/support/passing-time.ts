import { rebuild } from '../../projections/rebuild/rebuild.ts';
import { catalogue, projections } from '../../services/features.ts';
import { notifyAuthor } from '../../workers/guestbook/notify-author.ts';
import type { Service } from './service.ts';

/** Moves all events so far into the past by a PostgreSQL interval and rebuilds the read models. */
export async function advanceTime(service: Service, interval: string): Promise<void> {
  const { pool, url } = service.database;
  await pool.query('ALTER TABLE events DISABLE TRIGGER events_keep_rows');
  await pool.query('UPDATE events SET recorded_at = recorded_at - $1::interval', [interval]);
  await pool.query('ALTER TABLE events ENABLE TRIGGER events_keep_rows');
  await rebuild(url, catalogue, projections);
}

/** Runs a worker's jobs that notify authors of decisions; returns how many notified. */
export async function notifyAuthors(service: Service): Promise<number> {
  const { rows } = await service.database.pool.query(
    `SELECT data FROM pgboss.job WHERE name = 'tell-author' ORDER BY created_on, id`,
  );
  let notified = 0;
  for (const { data } of rows) if (await notifyAuthor(service.core, data)) notified++;
  return notified;
}

/** A member's feed: type, subject, data and actor of each entry, from the first note on. */
export async function readFeed(service: Service, memberId: string) {
  const { rows } = await service.database.pool.query(
    `SELECT type, subject_id AS subject, data, actor FROM feed
     WHERE member_id = $1 AND type !~ '^(member|session)' ORDER BY sequence`,
    [memberId],
  );
  return rows as { type: string; subject: string; data: object; actor: object }[];
}
