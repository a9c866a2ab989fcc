import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { query } from '../../platform/postgres/query.ts';
import { NOTICE_KINDS, type Notice, type NoticeKind, type PendingMessage } from './messages.ts';
import { deadJobsSince, type NoticedRow, noticedBetween, type Place } from './receiver-state.ts';

const RANGE_POSITIONS = 5000;
const MAX_IDS = 50;
const MAX_DEAD_JOBS = 1000;

const KINDS: Readonly<Record<string, NoticeKind>> = {
  NoteSubmitted: 'waiting',
  NoteReported: 'report',
  RecordReported: 'report',
  AppealOpened: 'appeal',
  MemberAppealed: 'appeal',
  QueueOverdue: 'overdue',
};

/**
 * Gathers all that happened after a place, up to the position `end`, in one message. However long a
 * receiver was away, it gets one message with counts, and the ids of the first of each kind.
 */
export async function gather(
  pool: pg.Pool,
  from: Place,
  end: number,
): Promise<{ place: Place; message: (PendingMessage & Place) | undefined }> {
  const notices = new Map<NoticeKind, Notice>();
  const add = (kind: NoticeKind, count: number, id?: Notice['ids'][number]) => {
    const notice = notices.get(kind) ?? { kind, count: 0, ids: [] };
    notice.count += count;
    if (id && notice.ids.length < MAX_IDS) notice.ids.push(id);
    notices.set(kind, notice);
  };
  for (let at = from.position; at < end; at += RANGE_POSITIONS)
    for (const row of await query(pool, noticedBetween(at, Math.min(at + RANGE_POSITIONS, end))))
      if (row.type === 'QueueOverdue') add('overdue', row.past_due ?? 1);
      else add(KINDS[row.type] ?? 'waiting', 1, subjectOf(row));
  const dead = await query(pool, deadJobsSince(from.dead_until, MAX_DEAD_JOBS));
  for (const { queue, id } of dead) add('dead_job', 1, { type: queue, id });
  const place = {
    position: Math.max(from.position, end),
    dead_until: dead.at(-1)?.at ?? from.dead_until,
  };
  if (notices.size === 0) return { place, message: undefined };
  const ordered = NOTICE_KINDS.flatMap((kind) => notices.get(kind) ?? []);
  const message = { id: randomUUID(), at: new Date().toISOString(), notices: ordered, ...place };
  return { place, message };
}

const subjectOf = ({ note_id, subject, owner_id }: NoticedRow): Notice['ids'][number] =>
  subject ?? (note_id ? { type: 'note', id: note_id } : { type: 'member', id: owner_id });
