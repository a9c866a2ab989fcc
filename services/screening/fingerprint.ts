import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { bounded, fold } from './folded.ts';

const SHINGLE = 5;
const BANDS = 8;
const ROWS_PER_BAND = 3;
const MIN_SHINGLES = 16;

export interface Fingerprint {
  key_id: number;
  /** Hash of the whole comparable text. Hashes are signed 64-bit decimals, like PostgreSQL's bigint. */
  whole: string;
  /** Band hashes: two texts that share most of their shingles very likely share one of these. */
  parts: string[];
}

/** The five-letter shingles of a folded text; empty if the text is too short to compare. */
export function toShingles(message: string): Set<string> {
  const letters = fold(message).replace(/[^\p{L}\p{N}]+/gu, ' ');
  const shingles = new Set<string>();
  for (let at = 0; at + SHINGLE <= letters.length; at++)
    shingles.add(letters.slice(at, at + SHINGLE));
  return shingles.size < MIN_SHINGLES ? new Set() : shingles;
}

/**
 * The text that is equal for texts which count as the same: folded, but one short word as written,
 * because folding joins words that differ ("åß" and "ass", "NULL" and "null").
 */
export function toComparable(message: string): string {
  const folded = fold(message);
  if (folded.includes(' ') || toShingles(message).size > 0) return folded;
  return (
    bounded(message)
      .replace(/\p{Cf}/gu, '')
      .trim() || message
  );
}

/** The Jaccard similarity of two shingle sets, from 0 to 1. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [few, many] = one.size < other.size ? [one, other] : [other, one];
  let common = 0;
  for (const shingle of few) if (many.has(shingle)) common++;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

/**
 * A text's fingerprint under every server key, newest first. The hashes are keyed, so that someone
 * with only the database can neither test a guess nor learn a word from them.
 */
export function toFingerprints(keys: KeyRing, message: string): Fingerprint[] {
  const whole = keys.all('fingerprint', 'whole', toComparable(message));
  const parts = minHashes(toShingles(message)).map((part, band) =>
    keys.all('fingerprint', `part ${band}`, part),
  );
  return whole.map(({ key_id, hash }, key) => ({
    key_id,
    whole: signed(hash),
    parts: parts.map((part) => signed(part[key]?.hash ?? '0')),
  }));
}

/** A text's fingerprint under the newest server key. */
export function toFingerprint(keys: KeyRing, message: string): Fingerprint {
  const [newest] = toFingerprints(keys, message);
  if (!newest) throw new Error('no server key to make a fingerprint with');
  return newest;
}

function signed(hash: string): string {
  return String(BigInt.asIntN(64, BigInt(`0x${hash.slice(0, 16)}`)));
}

/** MinHash: two sets have the same smallest hash with a probability equal to their similarity. */
function minHashes(shingles: ReadonlySet<string>): string[] {
  if (shingles.size === 0) return [];
  const least = new Uint32Array(BANDS * ROWS_PER_BAND).fill(0xffffffff);
  for (const shingle of shingles) {
    const hash = fnv1a(shingle);
    for (let row = 0; row < least.length; row++) {
      const value = mix(hash ^ Math.imul(row + 1, 0x9e3779b1));
      if (value < (least[row] ?? 0)) least[row] = value;
    }
  }
  return Array.from({ length: BANDS }, (_, band) =>
    least.subarray(band * ROWS_PER_BAND, (band + 1) * ROWS_PER_BAND).join(' '),
  );
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** The finalizer of MurmurHash3: each input bit affects every output bit. */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
