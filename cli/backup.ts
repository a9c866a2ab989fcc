import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { serverKeys } from '../platform/keys/server-keys.ts';
import type { Taken } from './backup/create.ts';
import { withDatabase } from './backup/database.ts';
import { type Keep, parseKeep } from './backup/retention.ts';
import { readPassphrase } from './backup/sealed-keys.ts';

const {
  positionals: [folder = ''],
  values: { keep },
} = processArguments(
  `Usage:
  npm run backup -- FOLDER
  npm run backup -- --keep 14|30d FOLDER

Backs up the database and the server keys into a new folder, while the service runs. The keys are sealed
under BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.

With --keep, FOLDER is a folder of backups: makes one there with the time as its name, verifies it, and then removes all
but the newest 14, or those older than 30 days. Web and worker report its time and result as metrics.
`,
  { keep: { type: 'string' } },
  [1, 1],
  ({ values }) => {
    if (values.keep !== undefined && !parseKeep(values.keep))
      throw new ArgumentError(
        '--keep must be a number of backups, such as 14, or of days, such as 30d.',
      );
  },
);
try {
  const passphrase = readPassphrase(process.env);
  const config = configOrExit();
  const { createBackup } = await import('./backup/create.ts');
  await withDatabase(config, (url) => {
    const kept = keep === undefined ? undefined : parseKeep(keep);
    return kept
      ? backUpScheduled(url, serverKeys(config), passphrase, kept)
      : createBackup(url, folder, serverKeys(config), passphrase).then(report);
  });
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function backUpScheduled(
  url: string,
  keys: ReturnType<typeof serverKeys>,
  passphrase: string,
  kept: Keep,
): Promise<void> {
  const { runScheduledBackup } = await import('./backup/scheduled.ts');
  const tell = (line: string) => void process.stderr.write(`${line}\n`);
  const made = await runScheduledBackup(url, folder, keys, passphrase, kept, tell);
  report(made.taken);
  process.stdout.write(
    made.restored
      ? `Verified ${made.name}: every read model equals its rebuild\n`
      : `Read back every byte of ${made.name}; it was not restored, since the embedded PostgreSQL is not installed: npm run verify does that elsewhere\n`,
  );
  if (made.removed.length > 0) process.stdout.write(`Removed ${made.removed.join(', ')}\n`);
}

function report({ manifest, events, others, unknown }: Taken): void {
  process.stdout.write(
    `Backed up ${events} events, up to position ${manifest.position} of epoch ${manifest.epoch}, as of ${manifest.taken_at}\n`,
  );
  if (others.length > 0)
    process.stderr.write(`Left out, since no migration made them: ${others.join(', ')}\n`);
  for (const { type, position } of unknown)
    process.stderr.write(
      `The log has events of the unknown type ${type}, the first at position ${position}: the backup can be restored, but neither verified nor rebuilt\n`,
    );
}
