import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ALL = 'test/**/*.test.ts';

/**
 * Returns the test files that the arguments name: a file, all files below a folder, those of a
 * pattern, or all files with a word in their path. Throws if an argument names none.
 */
export function findTestFiles(args: readonly string[]): string[] {
  if (args.length === 0) return findFiles(ALL).sort();
  return [...new Set(args.flatMap(filesOf))];
}

/** Without the packages that `npm run tools` installs below test/tools, which have tests as well. */
const findFiles = (pattern: string): string[] =>
  globSync(pattern).filter((file) => !file.includes('node_modules/'));

function filesOf(arg: string): string[] {
  const stat = statSync(arg, { throwIfNoEntry: false });
  if (stat?.isFile()) return [arg.replace(/^\.\//, '')];
  const below = stat?.isDirectory()
    ? findFiles(`${arg.replace(/^\.\/|\/$/g, '')}/**/*.test.ts`)
    : [];
  const matching = () =>
    /[*?{[]/.test(arg) ? findFiles(arg) : findFiles(ALL).filter((file) => file.includes(arg));
  // A word may also be the name of a folder without tests, such as examples.
  const found = below.length > 0 ? below : matching();
  if (found.length === 0) throw new Error(`No test file has ${arg} in its path`);
  return found.sort();
}

/** Whether a file imports one of `targets`, itself or through others. */
export function importsAny(file: string, targets: readonly string[]): boolean {
  const seen = new Set<string>();
  const left = [file];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (targets.includes(next)) return true;
    if (seen.has(next) || !existsSync(next)) continue;
    seen.add(next);
    for (const [, path = ''] of readFileSync(next, 'utf8').matchAll(/'(\.\.?\/[^'\n]+\.ts)'/g))
      left.push(join(next, '..', path));
  }
  return false;
}

/** Shuffles by a seed (mulberry32 and Fisher–Yates), so that an order can be repeated. */
export function shuffle<T>(items: readonly T[], seed: number): T[] {
  const shuffled = [...items];
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
  }
  return shuffled;
}
