import type { ObservedFeed, OwnRead } from '../history.ts';
import type { LogFacts } from '../log-facts.ts';

/** Feeds have no gaps, and each reader saw its member's feed from the first entry on. */
export function feedsWhole(seen: readonly ObservedFeed[], { feed }: LogFacts): string[] {
  const wrong: string[] = [];
  const feeds = Map.groupBy(feed, ({ member }) => member);
  for (const [member, rows] of feeds)
    rows.forEach(({ sequence }, index) => {
      if (sequence !== index + 1) wrong.push(`${member}: ${sequence} stands at ${index + 1}`);
    });
  for (const { member, events, whole } of seen) {
    const rows = feeds.get(member) ?? [];
    events.forEach(({ id, sequence }, index) => {
      if (sequence !== index + 1) wrong.push(`${member}: read ${sequence} as the ${index + 1}th`);
      if (rows[index]?.id !== id)
        wrong.push(`${member}: what was read as ${sequence} is not there`);
    });
    if (whole && events.length !== rows.length)
      wrong.push(`${member}: ${rows.length} events, ${events.length} were read`);
  }
  return wrong;
}

/** A member that reads a case after its own acknowledged write sees that write or a later state. */
export const ownWritesRead = (reads: readonly OwnRead[]): string[] =>
  reads.flatMap(({ path, written, read }) =>
    read < written ? [`GET ${path}: version ${read} after its reader had written ${written}`] : [],
  );
