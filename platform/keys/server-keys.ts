import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeOnce } from '../private-files.ts';

export interface ServerKey {
  readonly id: number;
  readonly secret: Buffer;
  /**
   * Set on a retired key. Its `secret` is then not the server key itself but the key derived from it
   * for this one purpose, so that taken handles are still recognized.
   */
  readonly only?: 'handle';
}

export const SERVER_KEYS_FORM =
  'must list keys newest first as id:64 hex digits, such as 2:…,1:…, with distinct ids from 1 to 32767, and may end with retired keys as id:handle:64 hex digits';

const ENTRY = /^([1-9]\d{0,4}):(handle:)?([0-9a-f]{64})$/i;

/** Parses SERVER_KEYS, newest key first; undefined if the text is malformed. */
export function parseServerKeys(text: string): readonly ServerKey[] | undefined {
  const keys = text.split(',').map((entry): ServerKey | undefined => {
    const [, id, only, secret] = ENTRY.exec(entry.trim()) ?? [];
    if (!id || !secret || Number(id) > 32_767) return undefined;
    const key = { id: Number(id), secret: Buffer.from(secret, 'hex') };
    return only ? { ...key, only: 'handle' } : key;
  });
  if (!keys.every((key) => key !== undefined) || keys[0]?.only) return undefined;
  return new Set(keys.map((key) => key.id)).size === keys.length ? keys : undefined;
}

/** Formats server keys as SERVER_KEYS has them. */
export const formatServerKeys = (keys: readonly ServerKey[]): string =>
  keys
    .map(({ id, only, secret }) => [id, ...(only ? [only] : []), secret.toString('hex')].join(':'))
    .join(',');

/**
 * The configured server keys, or those in the data folder, which are created once. Newest first:
 * the first key makes new verifiers, and every key checks old ones. Throws if the file is damaged.
 */
export function serverKeys(config: {
  readonly dataDir: string;
  readonly serverKeys?: readonly ServerKey[] | undefined;
}): readonly ServerKey[] {
  const file = serverKeysFile(config);
  return (
    findServerKeys(config) ??
    parseFile(
      file,
      makeOnce(file, () => `1:${newSecret()}`),
    )
  );
}

/** The same, but creates none: undefined if there are no keys yet. */
export function findServerKeys(config: {
  readonly dataDir: string;
  readonly serverKeys?: readonly ServerKey[] | undefined;
}): readonly ServerKey[] | undefined {
  if (config.serverKeys) return config.serverKeys;
  const file = serverKeysFile(config);
  const text = readIfThere(file);
  return text === undefined ? undefined : parseFile(file, text);
}

/** The file in the data folder in which server keys are kept unless they are configured. */
export const serverKeysFile = ({ dataDir }: { readonly dataDir: string }): string =>
  join(dataDir, 'server-keys');

function parseFile(file: string, text: string): readonly ServerKey[] {
  const keys = parseServerKeys(text.trim());
  if (!keys) throw new Error(`${file} is damaged: it ${SERVER_KEYS_FORM}`);
  return keys;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** A new secret: 64 hex digits. */
export const newSecret = (): string => randomBytes(32).toString('hex');
