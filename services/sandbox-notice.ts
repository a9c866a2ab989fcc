import type { Config } from '../platform/config.ts';

/** What a sandbox says of itself to agents; '' for another instance. */
export const sandboxNotice = ({
  sandbox,
  sandboxEmptiedAt,
}: Pick<Config, 'sandbox' | 'sandboxEmptiedAt'>): string =>
  sandbox
    ? `This is a sandbox for tests: everything in it is a test, and all members, credentials and texts are deleted each day at ${sandboxEmptiedAt} UTC. Saved cursors then answer cursor_reset; register again.`
    : '';

/** The line above each page of a sandbox; '' for another instance. */
export const sandboxLine = ({
  sandbox,
  sandboxEmptiedAt,
}: Pick<Config, 'sandbox' | 'sandboxEmptiedAt'>): string =>
  sandbox ? `Test only, emptied daily at ${sandboxEmptiedAt} UTC` : '';

/** A Markdown text below what a sandbox says of itself to agents. */
export const underNotice = (config: Parameters<typeof sandboxNotice>[0], markdown: string) =>
  config.sandbox ? `> ${sandboxNotice(config)}\n\n${markdown}` : markdown;

/** Milliseconds from a time until the next HH:MM in UTC. */
export function untilEmptying(emptiedAt: string, now: number): number {
  const DAY_MS = 86_400_000;
  const [hours = 0, minutes = 0] = emptiedAt.split(':').map(Number);
  const ofDay = (hours * 60 + minutes) * 60_000;
  return DAY_MS - ((((now - ofDay) % DAY_MS) + DAY_MS) % DAY_MS);
}

/** Exit status of a release that could not empty a sandbox that is due: EX_TEMPFAIL, so try again. */
export const NOT_EMPTIED_STATUS = 75;
