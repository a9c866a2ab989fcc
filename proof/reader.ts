import { setTimeout as sleep } from 'node:timers/promises';
import type { Common, openMember } from './member.ts';
import type { Random } from './random.ts';

export interface Seen {
  member: string;
  events: { id: string; sequence: number }[];
}

/** Pages a member's feed from the beginning to its end, which is when nobody writes any more. */
export async function readFeed(
  common: Common,
  random: Random,
  member: ReturnType<typeof openMember>,
): Promise<Seen> {
  const seen: Seen = { member: member.id, events: [] };
  let cursor = '';
  for (;;) {
    const late = common.quiet;
    const wait = late ? 0 : random.below(3);
    const search = `limit=${1 + random.below(5)}&wait=${wait}${cursor && `&cursor=${cursor}`}`;
    const headers = { authorization: member.bearer() };
    const answer = await common.call('GET', `/api/v1/updates?${search}`, undefined, headers);
    // A cursor that the service gave and takes no more: what was read so far tells.
    if (answer?.status === 400) return seen;
    if (answer?.status !== 200) {
      await sleep(100);
      continue;
    }
    seen.events.push(...answer.body.events);
    cursor = answer.body.next_cursor;
    if (late && !answer.body.has_more) return seen;
  }
}

/** Reads the guestbook as a visitor does, and remembers what was public. */
export async function visit({ call, history, until }: Common): Promise<void> {
  while (history.now() < until) {
    const answer = await call('GET', '/api/guestbook');
    for (const entry of answer?.body?.entries ?? []) history.published.add(entry.id);
    await sleep(50);
  }
}

/** Claims, approves, rejects and undoes, one note after another. */
export async function moderate(common: Common, random: Random, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const post = (path: string, body: object) =>
    common.call('POST', `/api/moderation/${path}`, body, headers);
  while (common.history.now() < common.until) {
    const claimed = await post('claims', { count: 2 });
    for (const { item } of claimed?.body?.claims ?? []) {
      const what = random.chance(0.6)
        ? { action: 'approve' }
        : { action: 'reject', policy: 'spam' };
      const body = { ...what, expected_version: item.version };
      const decided = await post(`notes/${item.id}/decisions`, body);
      if (decided?.status === 201 && random.chance(0.15))
        await post(`decisions/${decided.body.event_id}/undo`, {
          expected_version: decided.body.version,
        });
    }
    await sleep(100);
  }
}
