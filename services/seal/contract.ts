import { z } from 'zod';
import { READERS } from '../../domain/moderation/roles.ts';
import { defineContract } from '../../platform/http/route.ts';
import { Cursor, Limit, NextPage, Sha256, Uuid } from '../../platform/http/schemas.ts';
import type { ProvableRecord } from '../publications/publication-kind.ts';

const Part = (description: string, example: string) =>
  z
    .string()
    .max(20)
    .meta({ description, examples: [example] });

const Level = Part('The level of the tile, 0 for leaves', '0');

/** Public, and the same for every caller. */
const read = {
  method: 'GET',
  tag: 'log',
  access: 'public',
  unknownQuery: 'ignored',
  problems: ['not_found', 'storage_unavailable'],
} as const;

const tile = {
  ...read,
  summary: 'A tile of the sealed log: up to 256 hashes of one level (C2SP tlog-tiles)',
  replies: {
    200: { description: 'The hashes, 32 bytes each', type: 'application/octet-stream' },
  },
} as const;

const NUMBER =
  'The number of the tile: its last three digits, the digits before in parts of three after an x, ' +
  'and `.p/` and the number of hashes for the partial tile at the end';

const ProvenField = z
  .object({
    name: z
      .string()
      .meta({ description: 'The name of the field in the event', examples: ['data.note_id'] }),
    hash: Sha256.meta({
      description: 'SHA-256 of the bytes of `salt` and of `text`, as hex digits',
    }),
    salt: z
      .string()
      .regex(/^[0-9a-f]{32}$/)
      .optional()
      .meta({ description: '16 random bytes, as hex digits', examples: ['5a'.repeat(16)] }),
    text: z.string().optional().meta({ description: 'The value as canonical JSON (RFC 8785)' }),
  })
  .meta({
    id: 'ProvenField',
    description:
      'A field of a sealed event. `hash` is the SHA-256 of the bytes of `salt` and of `text` in UTF-8; both are ' +
      'missing if the reader may not read the field.',
  });

const EventProof = z
  .object({
    leaf: z
      .int()
      .min(0)
      .meta({ description: 'The number of the leaf: the event is in the log at this place' }),
    facts: z.array(ProvenField).meta({
      description:
        'Every field of the event but its words, such as `type`, `recorded_at` and `data.note_id`',
    }),
    words: z
      .array(ProvenField)
      .nullable()
      .meta({ description: 'The fields of its words. Null: it has none, or they are erased' }),
    words_hash: Sha256.nullable().meta({
      description:
        'What the leaf has of the words, also once they are erased. Null: the event had none when it was sealed',
    }),
    path: z.array(Sha256).meta({
      description: 'The inclusion proof of RFC 6962, from the leaf up to the root of `checkpoint`',
    }),
  })
  .meta({
    id: 'EventProof',
    description:
      'A proof that an event is in the log. The content of its leaf is the SHA-256 of the JSON object (RFC 8785) of ' +
      'names and hashes of its facts, then that of its words, or 32 zero bytes.',
  });

const checkpoint = z.string().meta({
  description: 'The signed checkpoint with whose root the proofs end, as of `GET /log/checkpoint`',
});

const ProofPage = z
  .object({ status: z.literal('ok'), checkpoint, events: z.array(EventProof), ...NextPage })
  .meta({ id: 'ProofPage' });

const RecordProof = z
  .object({
    status: z.literal('ok'),
    checkpoint,
    events: z.array(EventProof),
    unsealed: z.int().min(0).meta({ description: 'Events of the record that are not sealed yet' }),
  })
  .meta({ id: 'RecordProof' });

/** Builds the contract; `records` define of what everyone gets proofs. */
export const sealContract = (records: readonly ProvableRecord[]) =>
  defineContract({
    'log.checkpoint': {
      ...read,
      path: '/log/checkpoint',
      summary: 'The newest signed checkpoint of the sealed log (C2SP tlog-checkpoint)',
      description:
        'Origin, number of events and root hash of the tree, as a signed note. Not found where ' +
        'nothing is sealed.',
      replies: { 200: { description: 'The checkpoint', type: 'text/plain' } },
    },
    'log.tile': {
      ...tile,
      path: '/log/tile/:level/:tile',
      description: `${NUMBER}. Full tiles never change.`,
      params: z.object({ level: Level, tile: Part('The number, or its only part', '000') }),
    },
    'log.tile_2': {
      ...tile,
      path: '/log/tile/:level/:tile/:part',
      description: `The same for a number of two parts, or one part and the number of hashes.`,
      params: z.object({
        level: Level,
        tile: Part('The first part of the number', '000.p'),
        part: Part('The second part, or the number of hashes', '5'),
      }),
    },
    'log.tile_3': {
      ...tile,
      path: '/log/tile/:level/:tile/:part/:last',
      description: `The same for a number of three parts, or two parts and the number of hashes.`,
      params: z.object({
        level: Level,
        tile: Part('The first part of the number', 'x001'),
        part: Part('The second part', '067.p'),
        last: Part('The third part, or the number of hashes', '5'),
      }),
    },
    'log.record_proof': {
      ...read,
      path: '/log/proofs/:type/:id',
      summary: 'A proof that a public record is in the sealed log',
      description:
        'Proves the events with which the record was submitted or published, with the fields that everyone may read. ' +
        'Not found unless the record is public and the log is sealed. Verify it with `npm run verify-log` or ' +
        '`examples/verify_log.py` and, with packages of Go, `examples/verify-log-go`.',
      params: z.object({
        type: z.enum(records.map(({ type }) => type)),
        id: Uuid,
      }),
      replies: { 200: { description: 'The proof', body: RecordProof } },
    },
    'log.own_proofs': {
      method: 'GET',
      path: '/api/v1/me/proofs',
      summary: "Proofs that the member's own acts are in the sealed log",
      description:
        'What the member did with its notes, records, credentials and sessions, then what it did with cases of others: claims, ' +
        'submissions and reviews. Shown is every field that the member may read. Events of the last minutes, which are not ' +
        'sealed yet, are not listed. A page may have fewer events than `limit` and yet be followed by another. Not found where nothing is sealed.',
      tag: 'log',
      access: { scope: 'account:export' },
      query: z.object({ cursor: Cursor.optional(), limit: Limit }),
      replies: { 200: { description: 'One page', body: ProofPage } },
      problems: ['not_found', 'invalid_cursor'],
    },
    'log.audit_proofs': {
      method: 'GET',
      path: '/api/moderation/audit/proofs',
      summary: 'Proofs that the entries of the audit are in the sealed log',
      description:
        'The entries of `GET /api/moderation/audit`, oldest first, each with every field that the audit shows; texts ' +
        'and owners are hidden. Events of the last minutes, which are not sealed yet, are not listed. A page may have ' +
        'fewer events than `limit` and yet be followed by another. Not found where nothing is sealed. ' +
        '`npm run verify-log -- --key KEY --proof FILE` verifies pages without the service.',
      tag: 'log',
      access: { roles: READERS },
      query: z.object({ cursor: Cursor.optional(), limit: Limit }),
      replies: { 200: { description: 'One page', body: ProofPage } },
      problems: ['moderator_required', 'not_found', 'invalid_cursor'],
    },
  });
