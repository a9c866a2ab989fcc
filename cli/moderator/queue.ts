import { parseArguments } from '../../platform/command-line/arguments.ts';
import { createApiClient, type Item } from './api.ts';
import { age, say } from './terminal.ts';

const FIRST_CHARACTERS = 70;

/** Prints a page of the queue, one line for each item. */
export async function run(args: string[]): Promise<void> {
  const { values } = parseArguments(args, { view: { type: 'string' }, limit: { type: 'string' } });
  const search = new URLSearchParams(Object.entries(values));
  const api = await createApiClient();
  const { items, counts, next_cursor } = await api.need('GET', `queue?${search}`);
  for (const item of items as Item[]) say(lineOf(item));
  const summary = Object.entries(counts as Record<string, number>);
  say(summary.map(([name, count]) => `${name} ${count}`).join(' · '));
  if (next_cursor !== null) say('There are more: --limit takes up to 100.');
}

function lineOf({ id, age_seconds, author, text, claim }: Item): string {
  const characters = [...text];
  const first = characters.slice(0, FIRST_CHARACTERS).join('');
  const more = characters.length > FIRST_CHARACTERS ? '…' : '';
  const held = claim ? ` [${claim.mine ? 'yours' : claim.moderator.name}]` : '';
  return `${id}  ${age(age_seconds).padStart(6)}  ${author.name || author.kind}${held}: ${first}${more}`;
}
