import { pino } from 'pino';
import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { createPublicRecords } from './export-public/public-records.ts';
import { writeExport } from './export-public/write-export.ts';
import { withStorage } from './moderator/storage.ts';
import { printable } from './moderator/terminal.ts';

const USAGE = `Usage:
  npm run export-public -- DIR

Writes everything that is public to the new folder DIR: notes, context packets, profiles and cases as lines of
JSON, in the form of the public API, and the guestbooks as HTML pages without scripts. See
docs/operating/arrive-and-leave.md.
`;

const {
  positionals: [folder = ''],
} = processArguments(USAGE, {}, [1, 1]);

try {
  await withStorage(async (core) => {
    const { createApp } = await import('../services/app.ts');
    const { operations, stop } = await createApp(core, pino({ level: 'silent' }));
    try {
      const { baseUrl } = core.config;
      const records = createPublicRecords(operations);
      const exported = await writeExport(records, folder, { baseUrl, now: new Date() });
      const { notes, packets, profiles, cases } = exported;
      process.stdout.write(
        `Exported ${notes} notes, ${packets} packets, ${profiles} profiles and ${cases} cases\n`,
      );
    } finally {
      stop();
    }
  }, 'service export-public');
} catch (error) {
  process.stderr.write(printable(failureLine(error).trimEnd()));
  process.stderr.write('\n');
  process.exitCode = 1;
}
