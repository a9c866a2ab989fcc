import { statSync } from 'node:fs';
import { firstUsed, otherSecrets } from '../../platform/keys/key-checks.ts';
import { keyRing } from '../../platform/keys/key-ring.ts';
import { findServerKeys, serverKeysFile } from '../../platform/keys/server-keys.ts';
import { findMissingKeys } from '../../services/membership/key-usage.ts';
import type { Context } from './connection.ts';
import { bad, type Finding, ok, orOk, warn } from './finding.ts';

/** A backup has the keys with which its data was made. */
const PRINT_KEYS =
  'put it back into SERVER_KEYS, for example from npm run restore -- FOLDER --print-keys';

/** Checks that the service has the server keys that its data needs, without creating one. */
export async function checkKeys({ ask, config }: Context): Promise<Finding[]> {
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
      !config.serverKeys && modeFinding(serverKeysFile(config)),
    ],
    `The service has every server key that its data needs; the newest is ${keys.ids[0]}`,
  );
}

function modeFinding(file: string): Finding | undefined {
  return (statSync(file).mode & 0o077) === 0
    ? undefined
    : warn(`Other accounts of this machine can read ${file}`, `chmod 600 ${file}`);
}
