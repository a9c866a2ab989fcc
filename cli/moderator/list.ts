import { parseArguments } from '../../platform/command-line/arguments.ts';
import { query } from '../../platform/postgres/query.ts';
import { allModerators } from '../../projections/moderation/moderators.ts';
import { withStorage } from './storage.ts';
import { printable } from './terminal.ts';

export async function run(args: string[]): Promise<void> {
  parseArguments(args);
  await withStorage(async ({ pool }) => {
    for (const row of await query(pool, allModerators())) {
      const name = printable(row.name ?? '-');
      process.stdout.write(`${row.moderator_id}\t${row.role}\t${row.state}\t${name}\n`);
    }
  });
}
