import { validate } from 'uuid';
import { parseArguments } from '../../platform/command-line/arguments.ts';
import { type Api, createApiClient, postPages } from './api.ts';
import { zonedTime } from './arguments.ts';
import { leave, printable, say } from './terminal.ts';

interface Entry {
  subject: { type: string; id: string };
  action: string;
  /** Why it is left. */
  reason?: string;
}

/** Prints what a moderator decided since a time and what of it would be undone; undoes it with `--yes`. */
export async function rewind(args: string[]): Promise<void> {
  const {
    positionals: [wanted = ''],
    values: { since = '', yes = false },
  } = parseArguments(args, { since: { type: 'string' }, yes: { type: 'boolean' } }, [1, 1]);
  zonedTime('--since', since);
  const api = await createApiClient();
  const path = `moderators/${await idOf(api, wanted, since)}/rewind`;
  const previews = await postPages(api, path, () => ({ since, dry_run: true }));
  const toUndo = previews.flatMap(({ undo }) => undo);
  if (!yes || toUndo.length === 0) {
    print('To undo', toUndo);
    print('To leave', entriesLeft(previews));
    say(toUndo.length === 0 ? 'There is nothing to undo.' : 'Nothing is undone yet: add --yes.');
    return;
  }
  // Each page is refused if it is not as it was previewed.
  const pages = await postPages(api, path, (index) => ({
    since,
    dry_run: false,
    fingerprint: previews[index]?.fingerprint,
  }));
  print(
    'Undone',
    pages.flatMap(({ undone }) => undone),
  );
  print('Left', entriesLeft(pages));
  const batchId = pages[0]?.batch_id;
  say(`To take this back: npm run moderator -- undo-batch ${batchId}`);
}

/** The id of the moderator with this id, or with this name among those who decided since the time. */
async function idOf(api: Api, wanted: string, since: string): Promise<string> {
  if (validate(wanted)) return wanted;
  const { moderators } = await api.need('GET', `stats?${new URLSearchParams({ from: since })}`);
  const ids = (moderators as { moderator: { id: string; name: string } | null }[]).flatMap(
    ({ moderator }) => (moderator?.name === wanted ? moderator.id : []),
  );
  const [id] = ids;
  if (!id) return leave(`No moderator called ${printable(wanted)} has decided since then.\n`);
  if (ids.length === 1) return id;
  return leave(`Give an id, because several are called ${printable(wanted)}: ${ids.join(', ')}\n`);
}

const entriesLeft = (pages: readonly { left: Entry[] }[]): Entry[] =>
  pages.flatMap(({ left }) => left);

function print(title: string, entries: readonly Entry[]): void {
  say(`${title}: ${entries.length}`);
  for (const { subject, action, reason } of entries)
    say(`  ${action}  ${subject.type} ${subject.id}${reason ? `  (${reason})` : ''}`);
}

interface Result {
  status: string;
  note_id: string;
  error?: { code: string; reason?: string };
}

/** Undoes a batch of decisions, or a rewind, and prints the result for each note. */
export async function undoBatch(args: string[]): Promise<void> {
  const {
    positionals: [batchId = ''],
  } = parseArguments(args, {}, [1, 1]);
  const api = await createApiClient();
  const pages = await postPages(api, `batches/${encodeURIComponent(batchId)}/undo`, () => ({}));
  const results = pages.flatMap((page): Result[] => page.results);
  for (const { status, note_id, error } of results)
    say(`${status}  note ${note_id}${error?.reason ? `  (${error.reason})` : ''}`);
}
