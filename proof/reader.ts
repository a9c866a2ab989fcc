import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedRunState } from './client.ts';
import type { ObservedFeed } from './history.ts';
import type { Member } from './member.ts';
import { fromTool, noteTool } from './protocols.ts';
import type { Random } from './random.ts';

/** Refusals of a page after the last fault, 0.1 s apart, after which a feed will not be served any more. */
const MAX_LATE_REFUSALS = 300;

/** Pages a member's feed until the member is gone, or to its end once all writes have stopped. */
export async function readFeed(
  common: SharedRunState,
  random: Random,
  member: Member,
): Promise<ObservedFeed> {
  const seen: ObservedFeed = { member: member.id, events: [], whole: false };
  let cursor = '';
  let lateRefusals = 0;
  while (!member.gone()) {
    const late = common.quiet;
    const wait = late ? 0 : random.below(3);
    const limit = 1 + random.below(late ? 100 : 8);
    const search = `limit=${limit}&wait=${wait}${cursor && `&cursor=${cursor}`}`;
    const answer = await member.read(`/api/v1/updates?${search}`);
    if (late && answer?.status !== 200) lateRefusals++;
    // The service rejects its own cursor: report the feed as whole, so that missing entries count.
    if (answer?.status === 400 || lateRefusals > MAX_LATE_REFUSALS) return { ...seen, whole: true };
    if (answer?.status === 200) {
      seen.events.push(...answer.body.events);
      cursor = answer.body.next_cursor;
      if (late && !answer.body.has_more) return { ...seen, whole: true };
    } else {
      if (answer?.status === 401 && late) await member.renew();
      await sleep(100);
    }
  }
  return seen;
}

/** The cookie of a browser that wrote a moment ago: its reads use the primary. */
const FROM_PRIMARY = { cookie: 'wrote=1' };

/** Reads the guestbook over HTTP and MCP, and records which notes were public when. */
export async function visit(common: SharedRunState, random: Random): Promise<void> {
  const { call, history } = common;
  while (history.now() < common.until) {
    const parent = random.chance(0.3) ? common.notes.at(-1) : undefined;
    const invoked = history.now();
    const path = `/api/guestbook${parent ? `?parent_id=${parent}` : ''}`;
    const overMcp = random.chance(0.2);
    const mayLag = overMcp || random.chance(0.5);
    const answer = overMcp
      ? fromTool(await call(noteTool(parent)))
      : await call({ method: 'GET', path, headers: mayLag ? {} : FROM_PRIMARY });
    const answered = history.now();
    if (answer?.status === 200) {
      const shown: string[] = answer.body.entries.map(({ id }: { id: string }) => id);
      // Replies are shown only while their parent is public.
      for (const note of parent ? [parent, ...shown] : shown)
        history.sightings.push({ note, invoked, answered, mayLag });
      if (!parent) common.notes = shown.toReversed();
    }
    await sleep(40);
  }
}
