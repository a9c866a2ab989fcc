import { readFileSync } from 'node:fs';
import type { Given } from './command.ts';
import { Failure, UsageError } from './context.ts';

/** The value of an option that must be there. */
export function textOf(given: Given, name: string): string {
  const text = given.text(name);
  if (text === undefined) throw new UsageError(`--${name} is missing.`);
  return text;
}

export function wholeNumber(
  given: Given,
  name: string,
  min: number,
  max: number,
  usual: number,
): number {
  const text = given.text(name);
  const number = text === undefined ? usual : Number(text);
  if (!Number.isInteger(number) || number < min || number > max)
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`);
  return number;
}

/** The first items of a list, over as many pages as that takes. */
export async function pageOf<Item>(
  list: AsyncIterable<Item>,
  limit: number,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for await (const item of list) {
    items.push(item);
    if (items.length === limit) break;
  }
  return items;
}

/** The text of a file, or of the standard input for `-`. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (error) {
    throw new Failure(`Cannot read ${path}: ${(error as NodeJS.ErrnoException).code}`);
  }
}
