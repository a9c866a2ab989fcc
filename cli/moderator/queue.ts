import { createInterface } from 'node:readline';
import { ArgumentError, parseArguments } from '../../platform/command-line/arguments.ts';
import { type Api, createApiClient, explain, type Item } from './api.ts';
import { age, leave, quote, say } from './terminal.ts';

const FIRST_CHARACTERS = 70;

/** Prints a page of the queue, one line for each item. */
export async function queue(args: string[]): Promise<void> {
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

/** Makes one decision on one note; the command's name is the action. */
export async function decide(args: string[], action: string): Promise<void> {
  const options = { policy: { type: 'string' }, message: { type: 'string' } } as const;
  const {
    positionals: [id = ''],
    values,
  } = parseArguments(args, options, [1, 1]);
  const named = action === 'reject' || action === 'remove';
  if (named && !values.policy) throw new ArgumentError('A policy is missing: --policy CODE.');
  if (!named && (values.policy || values.message))
    throw new ArgumentError(`${action} takes neither --policy nor --message.`);
  const path = `notes/${encodeURIComponent(id)}`;
  const api = await createApiClient();

  // Claim a pending note first, so that no other moderator works on it unknowingly.
  const waits = action === 'approve' || action === 'reject';
  const [claim] = waits ? (await api.need('POST', 'claims', { note_ids: [id] })).claims : [];
  const item: Item = waits ? claim.item : (await api.need('GET', path)).item;
  const answer = await api.call('POST', `${path}/decisions`, {
    action,
    expected_version: item.version,
    ...values,
  });
  if (answer.status < 300) {
    const { state, undo_until, event_id } = answer.body;
    const until = undo_until ? `, may be undone until ${undo_until}` : '';
    say(`${id} is ${state}${until} (decision ${event_id})`);
    return;
  }
  if (claim) await api.call('POST', 'claims/release', { lease_ids: [claim.lease_id] });
  leave(`${explain(answer)}\n`);
}

const RENEW_MS = 60_000;

interface Claim {
  lease_id: string;
  item: Item;
}

interface Decision {
  event_id: string;
  version: number;
  /** Null if the decision cannot be undone. */
  undo_until: string | null;
}

/** Shows one note after another and takes decisions, until the queue is clear or `q` quits. */
export async function next(args: string[]): Promise<void> {
  parseArguments(args);
  const api = await createApiClient();
  const { policies } = await api.need('GET', 'policies');
  const codes = policies
    .filter(({ active }: { active: boolean }) => active)
    .map(({ code }: { code: string }) => code);
  const input = createInterface({ input: process.stdin });
  const lines = input[Symbol.asyncIterator]();

  /** Reads one line of input; undefined at the end of the input. */
  async function ask(question: string): Promise<string | undefined> {
    process.stdout.write(question);
    const line = await lines.next();
    return line.done ? undefined : line.value.trim();
  }

  let last: Decision | undefined;
  for (;;) {
    const [claim] = (await api.need('POST', 'claims', { count: 1 })).claims as Claim[];
    if (!claim) {
      say('The queue is clear.');
      break;
    }
    show(claim.item, codes);
    const renewal = setInterval(() => {
      void api.call('POST', 'claims/renew', { lease_ids: [claim.lease_id] });
    }, RENEW_MS);
    const done = await handle(api, claim, codes, last, ask).finally(() => clearInterval(renewal));
    if (done === 'quit') break;
    if (done) last = done.undo_until ? done : undefined;
  }
  input.close();
}

/** Takes input until the note is decided or released. */
async function handle(
  api: Api,
  { lease_id, item }: Claim,
  codes: readonly string[],
  last: Decision | undefined,
  ask: (question: string) => Promise<string | undefined>,
): Promise<Decision | 'quit' | undefined> {
  for (;;) {
    const [word = '', ...rest] = (await ask('> '))?.split(/\s+/) ?? ['q'];
    if (word === 'q') {
      await api.need('POST', 'claims/release', { lease_ids: [lease_id] });
      return 'quit';
    }
    if (word === 'u' && last) {
      const undo = await api.call('POST', `decisions/${last.event_id}/undo`, {
        expected_version: last.version,
      });
      say(undo.status < 300 ? 'Undone: it waits again.' : explain(undo));
      continue;
    }
    const decision = commandOf(word, rest, codes);
    if (!decision || !item.allowed_actions.includes(decision.action)) {
      help(item, codes);
      continue;
    }
    const answer = await api.call('POST', `notes/${item.id}/decisions`, {
      ...decision,
      expected_version: item.version,
    });
    if (answer.status < 300) {
      const { state, undo_until } = answer.body;
      const undo = undo_until ? ' · u undoes it' : '';
      say(`${state}${decision.policy ? `: ${decision.policy}` : ''}${undo}`);
      return answer.body;
    }
    say(explain(answer));
    if (answer.status !== 409) continue;
    await api.call('POST', 'claims/release', { lease_ids: [lease_id] });
    return undefined;
  }
}

function commandOf(
  word: string,
  rest: string[],
  codes: readonly string[],
): { action: string; policy?: string; message?: string } | undefined {
  const text = (words: string[]) => (words.length > 0 ? { message: words.join(' ') } : {});
  if (word === 'a') return { action: 'approve' };
  if (word === 'e' && rest.length > 0) return { action: 'escalate', ...text(rest) };
  const policy = codes[Number(rest[0]) - 1] ?? codes.find((code) => code === rest[0]);
  if (word === 'r' && policy) return { action: 'reject', policy, ...text(rest.slice(1)) };
  return undefined;
}

function show(item: Item, codes: readonly string[]): void {
  const { author } = item;
  say();
  say(
    `${item.id}  ${age(item.age_seconds)} old, by ${author.kind} ${author.name} ` +
      `(${author.approved} approved, ${author.rejected} rejected)`,
  );
  if (item.parent) {
    say('In reply to');
    quote(item.parent.text);
  }
  quote(item.text);
  for (const { text } of item.screening?.findings ?? []) say(`  ! ${text}`);
  help(item, codes);
}

function help({ allowed_actions }: Item, codes: readonly string[]): void {
  const keys = [
    ['approve', 'a approve'],
    [
      'reject',
      `r reject: ${codes.map((code, index) => `${index + 1} ${code}`).join(', ')}; then a word to the author`,
    ],
    ['escalate', 'e escalate, and why'],
  ] as const;
  const may = keys.filter(([action]) => allowed_actions.includes(action)).map(([, key]) => key);
  say([...may, 'u undo the last', 'q quit'].join(' · '));
}
