import { join } from 'node:path';
import { makeOnce, newSecret } from './key-file.ts';

export const SEAL_KEY_FORM =
  'must be 64 hex digits, or several such keys separated by commas, such as openssl rand -hex 32 prints';

/** Parses SEAL_KEY: the seeds of Ed25519 keys; undefined if the text is malformed. */
export function parseSealKeys(text: string): readonly Buffer[] | undefined {
  const seeds = text.split(',').map((entry) => entry.trim());
  const isWellFormed =
    seeds.every((seed) => /^[0-9a-f]{64}$/i.test(seed)) && new Set(seeds).size === seeds.length;
  return isWellFormed ? seeds.map((seed) => Buffer.from(seed, 'hex')) : undefined;
}

/** The file in the data folder of an embedded PostgreSQL with the key of its sealed log; makes it once. */
export function sealKeyFile({ dataDir }: { readonly dataDir: string }): string {
  const file = join(dataDir, 'seal-key');
  makeOnce(file, newSecret);
  return file;
}
