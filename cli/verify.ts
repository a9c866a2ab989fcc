import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { checkFolder } from './backup/folder.ts';
import { readPassphrase } from './backup/sealed-keys.ts';
import { verifyBackup, withScratchDatabase } from './backup/verify-backup.ts';

const {
  positionals: [folder = ''],
} = processArguments(
  `Usage:
  npm run verify -- FOLDER

Verifies a backup: reads every byte, restores it into a temporary PostgreSQL, rebuilds every read model
there, and compares. Names the texts that the log has lost. Touches no other database. The passphrase is
BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.
`,
  {},
  [1, 1],
);
try {
  const passphrase = readPassphrase(process.env);
  const { manifest, keys } = await checkFolder(folder, passphrase);
  const lost = await withScratchDatabase((url) => verifyBackup(url, folder, manifest));
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  process.stdout.write(
    `Verified ${rows} rows of ${manifest.tables.length} tables and ${keys.length} server keys, as of ${manifest.taken_at}: every read model equals its rebuild\n`,
  );
  for (const text of lost) process.stdout.write(`${text}\n`);
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
