import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { append } from './append.ts';
import { moderation } from './console.ts';
import { guestbook } from './guestbook.ts';
import { lists } from './lists.ts';
import { pages } from './pages.ts';
import { compare, type Result } from './pair.ts';
import { queue } from './queue.ts';
import { type Setting, withSetting } from './setting.ts';
import { updates } from './updates.ts';

const BENCHES = [append, guestbook, updates, queue, lists, pages, moderation];
const PACE = { rounds: 7, seconds: 1 };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' } },
});
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  const names = BENCHES.map((bench) => bench.name).join('|');
  process.stderr.write(`Usage: npm run bench -- [${names} …] [--json FILE]\n`);
  process.exit(1);
}

const results: Result[] = [];

async function run(setting: Setting): Promise<void> {
  for (const { name, prepare } of BENCHES) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    for (const comparison of await prepare(setting))
      for (const result of await compare(comparison, PACE)) {
        results.push(result);
        process.stdout.write(`${line(result)}\n`);
      }
  }
}

function line({ name, floor, ours, theirs, ratio, range, aim, met }: Result): string {
  const [least, most] = range.map((value) => value.toFixed(2));
  return [
    `${name} / ${floor}:`,
    `${ratio.toFixed(2)} (${least}–${most}; ${ours.toFixed(0)}/s against ${theirs.toFixed(0)}/s),`,
    `aim ${aim}: ${met ? 'met' : 'missed'}`,
  ].join(' ');
}

// Aims are told, not enforced: another machine has other ratios. What fails is what cannot run.
await withSetting(run);
if (values.json) {
  const { rounds, seconds } = PACE;
  writeFileSync(values.json, `${JSON.stringify({ rounds, seconds, results }, null, 2)}\n`);
}
