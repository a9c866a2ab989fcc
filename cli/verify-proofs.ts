import { z } from 'zod';
import type { Checkpoint } from '../platform/tlog/checkpoint.ts';
import { isIncluded, leafHash } from '../platform/tlog/merkle.ts';
import { commitment, contentOf, fieldHash, type ProvenField } from '../services/seal/leaf.ts';
import { LogFault } from './verify-log-http.ts';

const Hash = z.string().regex(/^[0-9a-f]{64}$/);
const Fields = z.array(
  z.object({
    name: z.string(),
    hash: Hash,
    salt: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional(),
    text: z.string().optional(),
  }),
);
const Proofs = z.object({
  checkpoint: z.string(),
  events: z.array(
    z.object({
      leaf: z.int().min(0),
      facts: Fields,
      words: Fields.nullable(),
      words_hash: Hash.nullable(),
      path: z.array(Hash).max(64),
    }),
  ),
});

type Proof = z.infer<typeof Proofs>['events'][number];

export interface ProvenPage {
  note: string;
  checkpoint: Checkpoint;
  /** A line about each event. */
  lines: string[];
}

/**
 * Verifies the proofs of a JSON document, as the service answers with it, or of one in each line, against their
 * checkpoints, which `open` checks. Throws `LogFault` if a proof proves nothing.
 */
export function verifyProofs(text: string, open: (note: string) => Checkpoint): ProvenPage[] {
  const whole = parse(text);
  const documents = whole === undefined ? text.trimEnd().split('\n').map(parse) : [whole];
  const pages = documents.map((document) => {
    const read = Proofs.safeParse(document);
    if (!read.success) throw new LogFault('the file has no proofs, or other content beside them');
    const { checkpoint: note, events } = read.data;
    const checkpoint = open(note);
    for (const event of events) verifyProof(event, checkpoint);
    return { note, checkpoint, lines: events.flatMap(linesOf) };
  });
  if (pages.every(({ lines }) => lines.length === 0))
    throw new LogFault('the file has proofs of no event');
  return pages;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function verifyProof({ leaf, facts, words, words_hash, path }: Proof, tree: Checkpoint): void {
  for (const field of [...facts, ...(words ?? [])]) verifyField(leaf, field);
  if (words && commitmentOf(leaf, words).toString('hex') !== words_hash)
    throw new LogFault(`leaf ${leaf}: its words are not those of words_hash`);
  const content = contentOf(
    commitmentOf(leaf, facts),
    words_hash === null ? null : Buffer.from(words_hash, 'hex'),
  );
  const nodes = path.map((hash) => Buffer.from(hash, 'hex'));
  if (!isIncluded(leaf, tree.size, leafHash(content), nodes, tree.root))
    throw new LogFault(`leaf ${leaf}: the event is not in the log of the checkpoint`);
}

function verifyField(leaf: number, { name, hash, salt, text }: ProvenField): void {
  if (salt === undefined && text === undefined) return;
  const isProven =
    salt !== undefined && text !== undefined && fieldHash(Buffer.from(salt, 'hex'), text) === hash;
  if (!isProven) throw new LogFault(`leaf ${leaf}: ${toAscii(name)} is not what was sealed`);
}

/** The commitment to fields, none of which may be named twice: only one of the two would be sealed. */
function commitmentOf(leaf: number, fields: readonly ProvenField[]): Buffer {
  if (new Set(fields.map(({ name }) => name)).size < fields.length)
    throw new LogFault(`leaf ${leaf}: a field is named twice`);
  return commitment(fields);
}

/** What a proof shows, without characters that could change how a terminal shows it. */
function linesOf({ leaf, facts, words, words_hash }: Proof): string[] {
  const shown = [...facts, ...(words ?? [])].filter(({ text }) => text !== undefined);
  const fields = shown.map(({ name, text = '' }) => `${toAscii(name)}=${toAscii(text)}`);
  return [
    `In the log at ${leaf}: ${fields.join(' ')}`,
    ...(words === null && words_hash !== null
      ? [`The words of ${leaf} are not shown, so no text is verified`]
      : []),
  ];
}

const toAscii = (text: string): string =>
  text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
