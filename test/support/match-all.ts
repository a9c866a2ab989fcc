import type { Test } from 'tap';

/** Like `t.match`, but also checks the length: `t.match` ignores extra items at a list's end. */
export function matchAll(
  t: Pick<Test, 'match' | 'equal'>,
  found: unknown,
  wanted: readonly unknown[],
  says = 'this, and nothing more',
): void {
  t.match(found, wanted, says);
  t.equal((found as readonly unknown[]).length, wanted.length, says);
}
