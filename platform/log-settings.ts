import { join } from 'node:path';
import { z } from 'zod';
import { parseCalledUrl } from './base-url.ts';
import { newSecret } from './keys/server-keys.ts';
import { makeOnce } from './private-files.ts';
import { TimeOfDay } from './sandbox-settings.ts';
import { parseWitnessKey, type VerifierKey } from './tlog/note.ts';

const SEAL_KEY_FORM =
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

/** A witness that co-signs checkpoints of the sealed log, at an address that speaks C2SP tlog-witness. */
export interface LogWitness {
  key: VerifierKey;
  url: URL;
}

const LOG_WITNESSES_FORM =
  'must be at most 10 pairs of the key of a witness (name+id+key, for cosignature/v1) and its address, with a space ' +
  'between both, separated by commas; https:// without user, query and fragment, http:// only on loopback';
const MAX_WITNESSES = 10;

/** Parses LOG_WITNESSES; undefined if a pair is malformed, or a name is given twice. */
export function parseLogWitnesses(text: string): LogWitness[] | undefined {
  const witnesses = text.split(',').map((pair) => parseWitness(pair.trim()));
  const isWellFormed =
    witnesses.length <= MAX_WITNESSES &&
    witnesses.every((witness) => witness !== undefined) &&
    new Set(witnesses.map(({ key }) => key.name)).size === witnesses.length;
  return isWellFormed ? witnesses : undefined;
}

function parseWitness(pair: string): LogWitness | undefined {
  const [text = '', address = '', ...more] = pair.split(/\s+/);
  const key = parseWitnessKey(text);
  const url = parseCalledUrl(address);
  return key && url && !url.search && more.length === 0 ? { key, url } : undefined;
}

/** The witnesses of a setting that is well-formed; none without it. */
export const logWitnesses = (text = ''): LogWitness[] => (text && parseLogWitnesses(text)) || [];

/** The settings of the sealed log. */
export const sealSettings = {
  SEAL_KEY: z
    .string()
    .refine((text) => parseSealKeys(text) !== undefined, SEAL_KEY_FORM)
    .meta({ form: '64 hex digits, several separated by commas' })
    .optional()
    .describe(
      'Ed25519 keys that sign the checkpoints of the sealed log, for workers alone. Every key signs. Without it nothing is sealed, except with the embedded PostgreSQL, where one is generated in `DATA_DIR`.',
    ),
  LOG_WITNESSES: z
    .string()
    .refine((text) => parseLogWitnesses(text) !== undefined, LOG_WITNESSES_FORM)
    .meta({ form: '`name+id+key https://…`, several separated by commas' })
    .optional()
    .describe(
      'Witnesses that workers ask to co-sign each checkpoint of the sealed log ([Witnesses](../verification/sealed-log.md#witnesses)). None by default.',
    ),
};

/** When the read models are compared with the log (docs/operating/live-proof.md). */
export const provingSettings = {
  VERIFY_AT: TimeOfDay.optional().describe(
    'When a worker compares every read model with the log each day, in UTC: minutes of one core for a million events, and free disk for a second copy of the read models. Not done if it is not set.',
  ),
};
