import { createHash, randomBytes } from 'node:crypto';
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

/** What opens a leaf. `words_salt` is null once the words are erased; both are null if there were none. */
export interface LeafOpening {
  facts_salt: Buffer;
  words_commitment: Buffer | null;
  words_salt: Buffer | null;
}

/** The facts of an event in canonical JSON (RFC 8785): everything but the words. */
export const factsText = ({ personal: _, ...facts }: SealedEvent): string => canonicalText(facts);

/** The words of an event in canonical JSON. */
export const wordsText = ({ personal }: SealedEvent): string => canonicalText(personal);

const canonicalText = (value: unknown): string => canonicalize(value) as string;

/** A commitment to a text: with the salt, it can be checked; without, it says nothing. */
const commitment = (salt: Buffer, text: string): Buffer =>
  createHash('sha256').update(salt).update(text).digest();

/** Salts for an event that is sealed. What an earlier tree has of it is kept, so that its leaf is the same. */
export function openLeaf(event: SealedEvent, earlier?: LeafOpening): LeafOpening {
  const facts_salt = earlier?.facts_salt ?? randomBytes(SALT_BYTES);
  if (event.personal === null)
    return { facts_salt, words_commitment: earlier?.words_commitment ?? null, words_salt: null };
  const words_salt = earlier?.words_salt ?? randomBytes(SALT_BYTES);
  return { facts_salt, words_commitment: commitment(words_salt, wordsText(event)), words_salt };
}

/** The content of a leaf: the commitments to the facts and to the words, 64 bytes. */
export const leafContent = (event: SealedEvent, opening: LeafOpening): Buffer =>
  Buffer.concat([
    commitment(opening.facts_salt, factsText(event)),
    opening.words_commitment ?? NO_WORDS,
  ]);

/** The hash of the leaf of an event. */
export const hashLeaf = (event: SealedEvent, opening: LeafOpening): Buffer =>
  leafHash(leafContent(event, opening));

/** How the words of an event differ from what was sealed, in a clause; undefined if they do not. */
export function wordsFault(event: SealedEvent, opening: LeafOpening): string | undefined {
  const { words_commitment: sealed, words_salt: salt } = opening;
  if (event.personal === null) return salt ? 'its words are gone, but not their salt' : undefined;
  if (!sealed) return 'it has words, but was sealed without';
  if (!salt) return 'it has words, but their salt is erased';
  return commitment(salt, wordsText(event)).equals(sealed)
    ? undefined
    : 'its words are not those that were sealed';
}
