import { ArgumentError, processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { clientConfig, withConnection } from '../platform/postgres/connection.ts';
import { verifySeal } from '../services/seal/verify-seal.ts';
import { withDatabase } from './backup/database.ts';
import { checkFolder } from './backup/folder.ts';
import { readPassphrase } from './backup/sealed-keys.ts';

const {
  positionals: [folder],
  values: { live, mend, seal },
} = processArguments(
  `Usage:
  npm run verify -- FOLDER
  npm run verify -- --live [--mend]
  npm run verify -- --seal

Verifies a backup: reads every byte, restores it into a temporary PostgreSQL, rebuilds every read model
there, and compares. Names the texts that the log has lost. Touches no other database. The passphrase is
BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.

With --live, compares every read model with the log while the service runs, and names each row that differs.
Changes no read model. The exit status is 1 if a row differs.

With --mend, also replaces just these rows by what the log says, and records that in the log. Needs the role that
owns the tables. The exit status is 1 if a row still differs.

With --seal, compares the log of the running instance with its sealed tree, and names the first position that
differs. Changes nothing.
`,
  {
    live: { type: 'boolean', default: false },
    mend: { type: 'boolean', default: false },
    seal: { type: 'boolean', default: false },
  },
  [0, 1],
  ({ positionals, values }) => {
    const { live, mend, seal } = values;
    if (mend && !live) throw new ArgumentError('--mend is given with --live.');
    if (live && seal) throw new ArgumentError('Give --live or --seal, not both.');
    if ((live || seal) && positionals.length > 0)
      throw new ArgumentError(`--${live ? 'live' : 'seal'} takes no FOLDER.`);
    if (!live && !seal && positionals.length === 0)
      throw new ArgumentError('An argument is missing.');
  },
);
try {
  if (live) await (await import('./verify-live.ts')).verifyLive(mend);
  else if (seal) await verifyLog();
  else await verifyFolder(folder ?? '');
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function verifyFolder(path: string): Promise<void> {
  const passphrase = readPassphrase(process.env);
  const backup = await checkFolder(path, passphrase);
  const { verifyBackup, withScratchDatabase } = await import('./backup/verify-backup.ts');
  const { manifest, keys } = backup;
  const lost = await withScratchDatabase((url) => verifyBackup(url, path, backup));
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  process.stdout.write(
    `Verified ${rows} rows of ${manifest.tables.length} tables and ${keys.length} server ${keys.length === 1 ? 'key' : 'keys'}, as of ${manifest.taken_at}: every read model equals its rebuild\n`,
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
