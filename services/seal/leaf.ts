import { hash, randomFillSync } from 'node:crypto';
import canonicalize from 'canonicalize';
import { HASH_BYTES, leafHash } from '../../platform/tlog/merkle.ts';

const SALT_BYTES = 16;
/** In place of a commitment, for an event without words. */
const NO_WORDS = Buffer.alloc(HASH_BYTES);

/** An event as it is sealed: as stored, in no newer shape; `recorded_at` in microseconds, UTC. */
export interface SealedEvent {
  position: number;
  owner_id: string;
  stream_id: string;
  stream_version: number;
  event_id: string;
  type: string;
  data: unknown;
  personal: unknown;
  actor: unknown;
  recorded_at: string;
}

/**
 * What opens a leaf: the secrets from which the salts of its fields are made. `words_salt` is null once the words
 * are erased; it and `words_commitment` are null if there were none.
 */
export interface LeafOpening {
  facts_salt: Buffer;
  words_commitment: Buffer | null;
  words_salt: Buffer | null;
}

/** A field of a sealed event. With `salt` and `text`, its JSON text, the hash can be checked. */
export interface ProvenField {
  name: string;
  hash: string;
  salt?: string | undefined;
  text?: string | undefined;
}

type OpenField = ProvenField & { salt: string; text: string };

/** The fields of a JSON object, with the names `path.key`; another value is one field. */
function fieldsOf(path: string, value: unknown): [name: string, value: unknown][] {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).map(([key, inner]) => [`${path}.${key}`, inner])
    : [[path, value]];
}

/** The fields of an event beside `data` and its words. */
const ENVELOPE = [
  'actor',
  'event_id',
  'owner_id',
  'position',
  'recorded_at',
  'stream_id',
  'stream_version',
  'type',
] as const;

/** The facts of an event: everything but the words, with a field for each value in `data`. */
const factsOf = (event: SealedEvent): [string, unknown][] => [
  ...ENVELOPE.map((name): [string, unknown] => [name, event[name]]),
  ...fieldsOf('data', event.data),
];

/** The words of an event, with a field for each value in `personal`. */
const wordsOf = ({ personal }: SealedEvent): [string, unknown][] => fieldsOf('personal', personal);

/** A value as canonical JSON (RFC 8785). */
const canonicalText = (value: unknown): string =>
  (typeof value === 'object' ? canonicalize(value) : JSON.stringify(value)) as string;

/**
 * Values with a salt each, which says nothing of the others: SHA-256 is one-way, and what is cut off keeps it from
 * being continued for a longer name.
 */
function prove(secret: Buffer, fields: readonly [name: string, value: unknown][]): OpenField[] {
  return fields.map(([name, value]) => {
    const salt = Buffer.from(sha256(secret, name, 'latin1').slice(0, SALT_BYTES), 'latin1');
    const text = canonicalText(value);
    return { name, hash: fieldHash(salt, text), salt: salt.toString('hex'), text };
  });
}

/** What is hashed is put together here. An event has some 30 hashes, and a new buffer costs more than one of them. */
let scratch = Buffer.alloc(4096);

/** The hash of a salt and a text: its digits, or its bytes as characters. */
function sha256(salt: Buffer, text: string, encoding: 'hex' | 'latin1'): string {
  // A UTF-16 unit has at most three bytes in UTF-8.
  const most = salt.length + 3 * text.length;
  if (scratch.length < most) scratch = Buffer.alloc(2 * most);
  salt.copy(scratch);
  const length = salt.length + scratch.write(text, salt.length);
  return hash('sha256', scratch.subarray(0, length), encoding);
}

/** The hash of a field, in hex digits, from its salt and its JSON text. */
export const fieldHash = (salt: Buffer, text: string): string => sha256(salt, text, 'hex');

/** The commitment to fields: the hash of their names and hashes, as canonical JSON. */
export function commitment(fields: readonly ProvenField[]): Buffer {
  const hashes = new Map(fields.map((field) => [field.name, field.hash]));
  const members = [...hashes.keys()]
    .sort()
    .map((name) => `${JSON.stringify(name)}:"${hashes.get(name)}"`);
  return Buffer.from(hash('sha256', `{${members.join(',')}}`, 'hex'), 'hex');
}

/** The facts of an event with their salts. */
export const provenFacts = (event: SealedEvent, { facts_salt }: LeafOpening) =>
  prove(facts_salt, factsOf(event));

/** The words of an event with their salts; undefined if it has none, or they are erased. */
export const provenWords = (event: SealedEvent, { words_salt }: LeafOpening) =>
  event.personal === null || words_salt === null ? undefined : prove(words_salt, wordsOf(event));

const SALTS_AT_A_TIME = 256;
let salts = Buffer.alloc(0);

/** A new secret; many are made in one call, which costs as much as that for one. */
function newSalt(): Buffer {
  if (salts.length === 0) salts = randomFillSync(Buffer.alloc(SALTS_AT_A_TIME * SALT_BYTES));
  const salt = salts.subarray(0, SALT_BYTES);
  salts = salts.subarray(SALT_BYTES);
  return salt;
}

/** Secrets for an event that is sealed. What an earlier tree has of it is kept, so that its leaf is the same. */
export function openLeaf(event: SealedEvent, earlier?: LeafOpening): LeafOpening {
  const facts_salt = earlier?.facts_salt ?? newSalt();
  if (event.personal === null)
    return { facts_salt, words_commitment: earlier?.words_commitment ?? null, words_salt: null };
  const words_salt = earlier?.words_salt ?? newSalt();
  const words_commitment = commitment(prove(words_salt, wordsOf(event)));
  return { facts_salt, words_commitment, words_salt };
}

/** The content of a leaf: the commitments to the facts and to the words, or null without words; 64 bytes. */
export const contentOf = (facts: Buffer, words: Buffer | null): Buffer =>
  Buffer.concat([facts, words ?? NO_WORDS]);

/** The content of the leaf of an event. */
export const leafContent = (event: SealedEvent, opening: LeafOpening): Buffer =>
  contentOf(commitment(provenFacts(event, opening)), opening.words_commitment);

/** The hash of the leaf of an event. */
export const hashLeaf = (event: SealedEvent, opening: LeafOpening): Buffer =>
  leafHash(leafContent(event, opening));

/** How the words of an event differ from what was sealed, in a clause; undefined if they do not. */
export function wordsFault(event: SealedEvent, opening: LeafOpening): string | undefined {
  const { words_commitment: sealed, words_salt: salt } = opening;
  if (event.personal === null) return salt ? 'its words are gone, but not their salt' : undefined;
  if (!sealed) return 'it has words, but was sealed without';
  const words = provenWords(event, opening);
  if (!words) return 'it has words, but their salt is erased';
  return commitment(words).equals(sealed) ? undefined : 'its words are not those that were sealed';
}
