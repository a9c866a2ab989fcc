import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { beginEpochOfLog, describeEpoch } from './backup/begin-epoch.ts';
import { withDatabase } from './backup/database.ts';
import { checkFolder } from './backup/folder.ts';
import { keepKeys } from './backup/keep-keys.ts';
import { keysOf, loadBackup } from './backup/load.ts';
import { formatServerKeys, readPassphrase } from './backup/sealed-keys.ts';

const {
  positionals: [folder = ''],
  values,
} = processArguments(
  `Usage:
  npm run restore -- FOLDER
  npm run restore -- FOLDER --print-keys

Restores a backup into an empty database, and begins an epoch of the log. Without SERVER_KEYS, the keys
of the backup are kept in DATA_DIR. --print-keys only prints them, as SERVER_KEYS has them. The passphrase
is BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.
`,
  { 'print-keys': { type: 'boolean', default: false } },
  [1, 1],
);
try {
  const passphrase = readPassphrase(process.env);
  const manifest = await checkFolder(folder);
  const keys = keysOf(folder, passphrase);
  if (values['print-keys']) {
    process.stdout.write(`${formatServerKeys(keys)}\n`);
  } else {
    const config = configOrExit();
    keepKeys(config, keys);
    const begun = await withDatabase(config, (url) =>
      loadBackup(url, folder, manifest, (client) =>
        beginEpochOfLog(client, `restored from the backup of ${manifest.taken_at}`),
      ),
    );
    process.stdout.write(describeEpoch(begun));
  }
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
