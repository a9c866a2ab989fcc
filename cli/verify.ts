import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import { verifySeal } from '../services/seal/verify-seal.ts';
import { withDatabase } from './backup/database.ts';
import { checkFolder } from './backup/folder.ts';
import { readPassphrase } from './backup/sealed-keys.ts';
import { verifyBackup, withScratchDatabase } from './backup/verify-backup.ts';

const {
  positionals: [folder],
  values: { seal },
} = processArguments(
  `Usage:
  npm run verify -- FOLDER
  npm run verify -- --seal

Verifies a backup: reads every byte, restores it into a temporary PostgreSQL, rebuilds every read model
there, and compares. Names the texts that the log has lost. Touches no other database. The passphrase is
BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.

With --seal, compares the log of the running instance with its sealed tree, and names the first position that
differs. Changes nothing.
`,
  { seal: { type: 'boolean', default: false } },
  [0, 1],
  ({ positionals, values }) => {
    if (values.seal && positionals.length > 0) throw new ArgumentError('--seal takes no FOLDER.');
    if (!values.seal && positionals.length === 0)
      throw new ArgumentError('An argument is missing.');
  },
);
try {
  if (seal) await verifyLog();
  else await verifyFolder(folder ?? '');
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function verifyFolder(path: string): Promise<void> {
  const passphrase = readPassphrase(process.env);
  const { manifest, keys } = await checkFolder(path, passphrase);
  const lost = await withScratchDatabase((url) => verifyBackup(url, path, manifest));
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  process.stdout.write(
    `Verified ${rows} rows of ${manifest.tables.length} tables and ${keys.length} server keys, as of ${manifest.taken_at}: every read model equals its rebuild\n`,
  );
  for (const text of lost) process.stdout.write(`${text}\n`);
}

async function verifyLog(): Promise<void> {
  const report = await withDatabase(configOrExit(), (url) =>
    withConnection(clientConfig(url, 'service verify'), verifySeal),
  );
  if (!report) throw new Error('Nothing is sealed: SEAL_KEY is not set, or no worker has run');
  if (report.fault) throw new Error(`The log differs from its sealed tree. ${report.fault}`);
  process.stdout.write(
    `Verified ${report.size} events of ${report.origin}, up to position ${report.position}: the log equals its sealed tree\n`,
  );
}
