import type { Service } from './service.ts';

/** Adds entries of about `bytes` bytes to the end of a member's feed. */
export async function fillFeed(
  service: Service,
  { id }: { id: string },
  count: number,
  bytes: number,
): Promise<void> {
  await service.tamper(
    `INSERT INTO feed (member_id, sequence, event_id, type, occurred_at, subject_type, subject_id,
        actor, data)
      SELECT $1::uuid, h.sequence + n, gen_random_uuid(), 'note.submitted', now(), 'note',
        gen_random_uuid(), '{"type": "service"}', jsonb_build_object('pad', repeat('x', $3))
      FROM feed_heads h, generate_series(1, $2::int) n WHERE h.member_id = $1`,
    [id, count, bytes],
  );
  await service.tamper('UPDATE feed_heads SET sequence = sequence + $2 WHERE member_id = $1', [
    id,
    count,
  ]);
}
