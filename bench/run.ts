import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { append } from './append.ts';
import { moderation } from './console.ts';
import { growth } from './growth.ts';
import { guestbook } from './guestbook.ts';
import { lists } from './lists.ts';
import { memoryUnderLoad } from './memory-under-load.ts';
import { pages } from './pages.ts';
import { compare, type Result } from './pair.ts';
import { queue } from './queue.ts';
import { rebuilding } from './rebuild.ts';
import { type Setting, withSetting } from './setting.ts';
import { startup } from './startup.ts';
import { topStatements } from './statements.ts';
import { updates } from './updates.ts';

const BENCHES = [append, guestbook, updates, queue, lists, pages, moderation];
const LONG = [growth, rebuilding, startup, memoryUnderLoad];
/** Short turns and many, since the speed of a shared machine changes from one second to the next. */
const PACE = { rounds: 21, seconds: 0.4 };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    json: { type: 'string' },
    events: { type: 'string', default: '1000000' },
    statements: { type: 'boolean', default: false },
  },
});
const known = [...BENCHES, ...LONG].map(({ name }) => name);
const events = Number(values.events);
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0 || !Number.isInteger(events) || events < 10_000) {
  const usage = `npm run bench -- [${known.join('|')} …] [--events N] [--only PART] [--json FILE] [--statements]`;
  process.stderr.write(`Usage: ${usage}\n`);
  process.exit(1);
}

const results: Result[] = [];

async function run(setting: Setting): Promise<void> {
  for (const { name, prepare } of BENCHES) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    for (const comparison of await prepare(setting)) {
      // What the bench itself did to prepare is none of it.
      if (values.statements) await topStatements(setting.server);
      for (const result of await compare(comparison, PACE)) tell(result);
      if (values.statements) process.stdout.write(`${await topStatements(setting.server)}\n`);
    }
  }
  for (const { name, measure } of LONG)
    if (positionals.includes(name)) await measure(setting, { events, only: values.only }, tell);
}

function tell(result: Result): void {
  results.push(result);
  process.stdout.write(`${line(result)}\n`);
}

function line({ name, floor, ours, theirs, ratio, range, aim, met }: Result): string {
  const [least, most] = range.map((value) => value.toFixed(2));
  return [
    `${name} / ${floor}:`,
    `${ratio.toFixed(2)} (${least}–${most}; ${ours.toFixed(0)}/s against ${theirs.toFixed(0)}/s),`,
    `aim ${aim}: ${met ? 'met' : 'missed'}`,
  ].join(' ');
}

// Whoever has read enough closes the pipe: the run goes on, so that it ends what it started.
process.stdout.on('error', () => undefined);

// Aims are told, not enforced: another machine has other ratios. What fails is what cannot run.
await withSetting(run, { counting: values.statements });
if (values.json) {
  const { rounds, seconds } = PACE;
  writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, results }, null, 2)}\n`);
}
