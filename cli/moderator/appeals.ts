import { parseArguments } from '../../platform/command-line/arguments.ts';
import { query } from '../../platform/postgres/query.ts';
import { openAppeals } from '../../projections/disabling/member-appeals.ts';
import { withStorage } from './storage.ts';
import { printable } from './terminal.ts';

const MOST = 100;

/** Prints the oldest open appeals of disabled members, one line each; `enable` grants one. */
export async function run(args: string[]): Promise<void> {
  parseArguments(args);
  await withStorage(async ({ pool }) => {
    for (const row of await query(pool, openAppeals(MOST))) {
      const columns = [
        row.opened_at.toISOString(),
        row.handle,
        row.policy ?? '-',
        row.disabled_by ?? 'operator',
        row.text ?? '-',
      ];
      process.stdout.write(`${columns.map(printable).join('\t')}\n`);
    }
  });
}
