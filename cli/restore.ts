import type pg from 'pg';
import { processArguments } from '../platform/command-line/arguments.ts';
import { failureLine } from '../platform/command-line/failure.ts';
import { configOrExit } from '../platform/config.ts';
import { formatServerKeys } from '../platform/keys/server-keys.ts';
import { addressConfig, withConnection } from '../platform/postgres/connection.ts';
import { areWanted, DATABASE_ROLES, grantRoles, missingRoles } from '../services/database-roles.ts';
import { beginEpochOfLog, describeEpoch } from './backup/begin-epoch.ts';
import { asPlainOwner, withDatabase } from './backup/database.ts';
import { checkFolder } from './backup/folder.ts';
import { keepKeys } from './backup/keep-keys.ts';
import { loadBackup } from './backup/load.ts';
import { readPassphrase } from './backup/sealed-keys.ts';

const {
  positionals: [folder = ''],
  values,
} = processArguments(
  `Usage:
  npm run restore -- FOLDER
  npm run restore -- FOLDER --print-keys

Restores a backup into an empty database, begins an epoch of the log, and grants the roles of the release,
if the server has them; otherwise it says which are missing. Without SERVER_KEYS, the keys of the backup are
kept in DATA_DIR. --print-keys only prints them, as SERVER_KEYS has them. The passphrase is
BACKUP_PASSPHRASE, or the text of BACKUP_PASSPHRASE_FILE.
`,
  { 'print-keys': { type: 'boolean', default: false } },
  [1, 1],
);
try {
  const passphrase = readPassphrase(process.env);
  const backup = await checkFolder(folder, passphrase);
  const { manifest, keys } = backup;
  if (values['print-keys']) {
    process.stdout.write(`${formatServerKeys(keys)}\n`);
  } else {
    const config = configOrExit();
    keepKeys(config, keys);
    await withDatabase(config, async (url) => {
      const load = (address: string) =>
        loadBackup(address, folder, backup, (client) =>
          beginEpochOfLog(client, `restored from the backup of ${manifest.taken_at}`),
        );
      // The role of the embedded server is a superuser.
      const begun = await (config.databaseUrl ? load(url) : asPlainOwner(url, load));
      process.stdout.write(describeEpoch(begun));
      await withConnection(addressConfig(url, 'service restore'), async (client) => {
        await grantAgain(client);
        if (config.databaseUrl) await reportMissingRoles(client);
      });
    });
  }
} catch (error) {
  process.stderr.write(failureLine(error));
  process.exitCode = 1;
}

async function grantAgain(client: pg.Client): Promise<void> {
  if (!(await areWanted(client))) return;
  await grantRoles(client).catch((cause: unknown) => {
    const text =
      'The backup is restored, but its roles are not: mend this, then npm run release -- --grant';
    throw new Error(text, { cause });
  });
  process.stdout.write(`Granted the roles ${DATABASE_ROLES.join(', ')}\n`);
}

async function reportMissingRoles(client: pg.Client): Promise<void> {
  const missing = await missingRoles(client);
  if (missing.length > 0)
    process.stderr.write(
      `No privileges were granted, because this server lacks the roles ${missing.join(', ')}: if web and worker are not to own the tables, run npm run release -- --grant (docs/operating/roles.md)\n`,
    );
}
