import type { Test } from 'tap';

/** As `t.match`, which lets a list have more at its end than what is wanted: this does not. */
export function matchAll(
  t: Pick<Test, 'match' | 'equal'>,
  found: unknown,
  wanted: readonly unknown[],
  says = 'this, and nothing more',
): void {
  t.match(found, wanted, says);
  t.equal((found as readonly unknown[]).length, wanted.length, says);
}
