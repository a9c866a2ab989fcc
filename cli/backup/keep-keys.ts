import { existsSync, writeFileSync } from 'node:fs';
import {
  formatServerKeys,
  type ServerKey,
  serverKeys,
  serverKeysFile,
} from '../../platform/keys/server-keys.ts';
import { makePrivateFolder } from '../../platform/private-files.ts';

/**
 * Puts the keys of a backup where the service looks for them: into DATA_DIR, unless SERVER_KEYS is
 * set. Throws if the service has other keys already.
 */
export function keepKeys(
  config: { readonly dataDir: string; readonly serverKeys?: readonly ServerKey[] | undefined },
  keys: readonly ServerKey[],
): void {
  const file = serverKeysFile(config);
  if (!config.serverKeys && !existsSync(file)) {
    makePrivateFolder(config.dataDir);
    writeFileSync(file, `${formatServerKeys(keys)}\n`, { mode: 0o600, flag: 'wx', flush: true });
    return;
  }
  const held = serverKeys(config);
  const lacks = keys.filter(
    ({ id, secret }) => !held.some((key) => key.id === id && key.secret.equals(secret)),
  );
  if (lacks.length > 0)
    throw new Error(
      `${config.serverKeys ? 'SERVER_KEYS' : file} lacks key ${lacks.map(({ id }) => id).join(', ')} of the backup: --print-keys shows the keys`,
    );
}
