import { parseCalledUrl } from './base-url.ts';
import { parseWitnessKey, type VerifierKey } from './tlog/note.ts';

/** A witness that co-signs checkpoints of the sealed log, at an address that speaks C2SP tlog-witness. */
export interface LogWitness {
  key: VerifierKey;
  url: URL;
}

export const LOG_WITNESSES_FORM =
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
