import type { Test } from 'tap';

/** Like `t.match`, but also checks the length: `t.match` ignores extra items at a list's end. */
export function matchAll(
  t: Pick<Test, 'match' | 'equal'>,
  found: unknown,
  wanted: readonly unknown[],
  message = 'matches, with no extra items',
): void {
  t.match(found, wanted, message);
  t.equal((found as readonly unknown[]).length, wanted.length, message);
}
