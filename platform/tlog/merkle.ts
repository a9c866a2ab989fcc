import { createHash } from 'node:crypto';

// Merkle tree hashes of RFC 6962, section 2.1, with SHA-256.

/** Bytes of a hash. */
export const HASH_BYTES = 32;

const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** The hash of a leaf with this content. */
export const leafHash = (content: Uint8Array): Buffer => sha256(LEAF, content);

/** The hash of a node with these children. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(NODE, left, right);

/** The root of a tree without leaves. */
export const EMPTY_ROOT = sha256();

/** Reads the hash of the complete subtree over the leaves from `index * 2^level`, `2^level` of them. */
export type ReadNode = (level: number, index: number) => Promise<Buffer>;

/** The largest power of two that is smaller than `size`, which is at least 2. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The power to which two is raised for `size`; undefined if it is no power of two. */
function exponentOf(size: number): number | undefined {
  const exponent = Math.round(Math.log2(size));
  return 2 ** exponent === size ? exponent : undefined;
}

/** The hash of the leaves from `from` up to and without `to`; `from` is a multiple of the subtree's size. */
async function rangeHash(read: ReadNode, from: number, to: number): Promise<Buffer> {
  const size = to - from;
  const level = exponentOf(size);
  if (level !== undefined) return read(level, from / size);
  const middle = from + splitOf(size);
  return nodeHash(await rangeHash(read, from, middle), await rangeHash(read, middle, to));
}

/** The root of the tree of the first `size` leaves. */
export const rootOf = async (read: ReadNode, size: number): Promise<Buffer> =>
  size === 0 ? EMPTY_ROOT : rangeHash(read, 0, size);

/** The inclusion proof of a leaf in the tree of the first `size` leaves, from the leaf up. */
export async function inclusionProof(
  read: ReadNode,
  leaf: number,
  size: number,
): Promise<Buffer[]> {
  const path = async (from: number, to: number): Promise<Buffer[]> => {
    if (to - from === 1) return [];
    const middle = from + splitOf(to - from);
    return leaf < middle
      ? [...(await path(from, middle)), await rangeHash(read, middle, to)]
      : [...(await path(middle, to)), await rangeHash(read, from, middle)];
  };
  return path(0, size);
}

/** The proof that the tree of the first `older` leaves is the beginning of that of the first `size`. */
export async function consistencyProof(
  read: ReadNode,
  older: number,
  size: number,
): Promise<Buffer[]> {
  const part = async (from: number, to: number, whole: boolean): Promise<Buffer[]> => {
    if (older === to) return whole ? [] : [await rangeHash(read, from, to)];
    const middle = from + splitOf(to - from);
    return older <= middle
      ? [...(await part(from, middle, whole)), await rangeHash(read, middle, to)]
      : [...(await part(middle, to, false)), await rangeHash(read, from, middle)];
  };
  return older === 0 || older === size ? [] : part(0, size, true);
}

const isOdd = (value: number): boolean => value % 2 === 1;
const half = (value: number): number => Math.floor(value / 2);

/** Whether a proof shows that the leaf with this hash is in the tree (RFC 9162, 2.1.3.2). */
export function isIncluded(
  leaf: number,
  size: number,
  hash: Uint8Array,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!(leaf >= 0 && leaf < size)) return false;
  let [at, last, found] = [leaf, size - 1, hash];
  for (const node of proof) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      found = nodeHash(node, found);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else found = nodeHash(found, node);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && isEqual(found, root);
}

/** Whether a proof shows that one tree is the beginning of another (RFC 9162, 2.1.4.2). */
export function isConsistent(
  older: { size: number; root: Uint8Array },
  newer: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (older.size > newer.size) return false;
  if (older.size === newer.size) return proof.length === 0 && isEqual(older.root, newer.root);
  if (older.size === 0) return proof.length === 0 && isEqual(older.root, EMPTY_ROOT);
  const isComplete = exponentOf(older.size) !== undefined;
  const [first, ...rest] = isComplete ? [older.root, ...proof] : proof;
  if (!first || proof.length === 0) return false;
  let [at, last] = [older.size - 1, newer.size - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  let [left, right] = [first, first];
  for (const node of rest) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      left = nodeHash(node, left);
      right = nodeHash(node, right);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else right = nodeHash(right, node);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && isEqual(left, older.root) && isEqual(right, newer.root);
}

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
