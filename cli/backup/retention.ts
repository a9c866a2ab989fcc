import {
  closeSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

/** How many backups are kept, or for how many days. */
export type Keep = { count: number } | { days: number };

/** Where a backup is written until it is verified. */
export const UNFINISHED = '.unfinished-backup';
const REMOVED = '.removed-backup';
const NAME = /^\d{4}-\d\d-\d\dT\d{6}Z$/;
const DAY_MS = 86_400_000;

/** Parses `14` or `30d`; undefined if the text is neither. */
export function parseKeep(text: string): Keep | undefined {
  const [, digits, unit] = /^([1-9]\d{0,4})(d?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return unit ? { days: Number(digits) } : { count: Number(digits) };
}

/** The name of a backup, by the time of its state; names sort like their times. */
export const nameOf = (takenAt: string): string => takenAt.replaceAll(/(\d\d):(\d\d):/g, '$1$2');

const timeOf = (name: string): number =>
  Date.parse(name.replace(/T(\d\d)(\d\d)(\d\d)Z$/, 'T$1:$2:$3Z'));

/** Removes what a run that was killed left behind. */
export function removeLeftovers(folder: string): void {
  for (const name of [UNFINISHED, REMOVED])
    rmSync(join(folder, name), { recursive: true, force: true });
}

/** Gives a verified backup its name, after its bytes are on the disk. Throws if the name is taken. */
export function publish(folder: string, name: string): void {
  const draft = join(folder, UNFINISHED);
  for (const file of readdirSync(draft)) flush(join(draft, file));
  flush(draft);
  if (lstatSync(join(folder, name), { throwIfNoEntry: false }))
    throw new Error(`${join(folder, name)} exists already: the database's clock was set back`);
  renameSync(draft, join(folder, name));
  flush(folder);
}

/**
 * Removes the backups beyond `keep`, and returns their names. `newest` is the one that was just verified, and stays.
 * Touches nothing with another name. Throws, and removes nothing, if a backup is dated after `newest`.
 */
export function prune(folder: string, newest: string, keep: Keep): string[] {
  const names = readdirSync(folder)
    .filter((name) => NAME.test(name) && lstatSync(join(folder, name)).isDirectory())
    .sort()
    .reverse();
  if (names[0] !== newest)
    throw new Error(
      `${join(folder, names[0] ?? '')} is dated after ${newest}, which was verified, so no backup was removed: the database's clock is or was wrong. Remove or rename what has a wrong date`,
    );
  const surplus = names
    .slice(1)
    .filter((name, index) =>
      'count' in keep
        ? index + 1 >= keep.count
        : timeOf(newest) - timeOf(name) > keep.days * DAY_MS,
    );
  for (const name of surplus) {
    // A folder whose removal is interrupted is not taken for a damaged backup.
    renameSync(join(folder, name), join(folder, REMOVED));
    rmSync(join(folder, REMOVED), { recursive: true });
  }
  return surplus;
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
