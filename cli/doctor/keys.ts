import { existsSync, statSync } from 'node:fs';
import { SECRET_FILES } from '../../platform/config.ts';
import { firstUsed, otherSecrets } from '../../platform/keys/key-checks.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { findServerKeys, serverKeysFile } from '../../platform/keys/server-keys.ts';
import { findMissingKeys } from '../../services/membership/key-usage.ts';
import { describeGivenUp, givenUpKeys } from '../../services/membership/retire-key.ts';
import { bad, type Context, type Finding, ok, orOk, shellWord, warn } from './check.ts';

/** A backup has the keys with which its data was made. */
const PRINT_KEYS =
  'put it back into SERVER_KEYS, for example from npm run restore -- FOLDER --print-keys';

/** Checks that the service has the server keys that its data needs, without creating one. */
export async function checkKeys({ ask, config, env }: Context): Promise<Finding[]> {
  const held = findServerKeys(config);
  const used = await ask(firstUsed());
  if (!held)
    return used.length === 0
      ? [ok('The first start creates a server key')]
      : [bad(`${serverKeysFile(config)} with the server key is missing`, PRINT_KEYS)];
  const keys = keyRing(held);
  const missing = await findMissingKeys(ask, keys);
  return orOk(
    [
      ...otherSecrets(keys, used).map((id) =>
        bad(
          `SERVER_KEYS has another secret for key ${id} than this database was used with`,
          PRINT_KEYS,
        ),
      ),
      ...[...missing].map(([id, uses]) =>
        bad(`SERVER_KEYS lacks key ${id}, which ${uses.join(', ')} need`, PRINT_KEYS),
      ),
      !config.serverKeys && modeFinding(serverKeysFile(config), PRIVATE),
      ...secretFiles(env).map((file) => modeFinding(file, SHARED_WITH_GROUP)),
    ],
    [
      `The service has every server key that its data needs; the newest is ${keys.ids[0]}`,
      ...(await ask(givenUpKeys())).map(describeGivenUp),
    ].join('. '),
  );
}

/** The permission bits that the file of DATA_DIR, or a file of the environment, must not have. */
const PRIVATE = 0o077;
/** A group may read: services that hand out secrets need it. */
const SHARED_WITH_GROUP = 0o027;

/** The files with secrets that the environment names, also that of the passphrase of backups. */
const secretFiles = (env: Context['env']): string[] =>
  [...Object.keys(SECRET_FILES), 'BACKUP_PASSPHRASE_FILE'].flatMap((name) => {
    const file = env[name];
    return file && existsSync(file) ? [file] : [];
  });

function modeFinding(file: string, forbidden: number): Finding | undefined {
  return (statSync(file).mode & forbidden) === 0
    ? undefined
    : warn(
        `Other accounts of this machine can read or change ${file}`,
        `chmod 600 ${shellWord(file)}`,
      );
}
