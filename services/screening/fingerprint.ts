import type { KeyRing } from '../../platform/keys/key-ring.ts';
import { fold } from './folded.ts';

const SHINGLE = 5;
const BANDS = 8;
const ROWS = 3;
const FEWEST_SHINGLES = 16;

export interface Fingerprint {
  key_id: number;
  /** Of the whole folded text. Hashes are signed 64-bit numbers in decimal, as PostgreSQL has them. */
  whole: string;
  /** Two texts that share most of their shingles share one of these, most likely. */
  parts: string[];
}

/** Pieces of a folded text, of five letters each; none where it is too short to be like another. */
export function shinglesOf(message: string): Set<string> {
  const letters = fold(message).replace(/[^\p{L}\p{N}]+/gu, ' ');
  const shingles = new Set<string>();
  for (let at = 0; at + SHINGLE <= letters.length; at++)
    shingles.add(letters.slice(at, at + SHINGLE));
  return shingles.size < FEWEST_SHINGLES ? new Set() : shingles;
}

/** The share of pieces that two texts have in common, from 0 to 1. */
export function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [few, many] = one.size < other.size ? [one, other] : [other, one];
  let common = 0;
  for (const shingle of few) if (many.has(shingle)) common++;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

/**
 * A text's fingerprint under every server key, newest first. Hashes are keyed, so that whoever has
 * the database alone can neither test a guess nor learn a word from them.
 */
export function fingerprintsOf(keys: KeyRing, message: string): Fingerprint[] {
  const whole = keys.all('fingerprint', 'whole', fold(message) || message);
  const parts = minHashes(shinglesOf(message)).map((part, band) =>
    keys.all('fingerprint', `part ${band}`, part),
  );
  return whole.map(({ key_id, hash }, key) => ({
    key_id,
    whole: signed(hash),
    parts: parts.map((part) => signed(part[key]?.hash ?? '0')),
  }));
}

function signed(hash: string): string {
  return String(BigInt.asIntN(64, BigInt(`0x${hash.slice(0, 16)}`)));
}

/** MinHash: the chance that two sets have the same least hash is their likeness. */
function minHashes(shingles: ReadonlySet<string>): string[] {
  if (shingles.size === 0) return [];
  const least = new Uint32Array(BANDS * ROWS).fill(0xffffffff);
  for (const shingle of shingles) {
    const hash = fnv1a(shingle);
    for (let row = 0; row < least.length; row++) {
      const value = mix(hash ^ Math.imul(row + 1, 0x9e3779b1));
      if (value < (least[row] ?? 0)) least[row] = value;
    }
  }
  return Array.from({ length: BANDS }, (_, band) =>
    least.subarray(band * ROWS, (band + 1) * ROWS).join(' '),
  );
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** Every bit of the input moves every bit of the output (the finalizer of MurmurHash3). */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
