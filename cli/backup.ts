import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { serverKeys } from '../platform/keys/server-keys.ts';
import { createBackup } from './backup/create.ts';
import { withDatabase } from './backup/database.ts';
import { readPassphrase } from './backup/sealed-keys.ts';

const {
  positionals: [folder = ''],
} = processArguments(
  `Usage:
  npm run backup -- FOLDER

Backs up the database and the server keys into a new folder, while the service runs. The keys are sealed
under BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.
`,
  {},
  [1, 1],
);
try {
  const passphrase = readPassphrase(process.env);
  const config = configOrExit();
  const { manifest, events, others, unknown } = await withDatabase(config, (url) =>
    createBackup(url, folder, serverKeys(config), passphrase),
  );
  process.stdout.write(
    `Backed up ${events} events, up to position ${manifest.position} of epoch ${manifest.epoch}, as of ${manifest.taken_at}\n`,
  );
  if (others.length > 0)
    process.stderr.write(`Left out, since no migration made them: ${others.join(', ')}\n`);
  for (const { type, position } of unknown)
    process.stderr.write(
      `The log has events of the unknown type ${type}, the first at position ${position}: the backup can be restored, but neither verified nor rebuilt\n`,
    );
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}
