import { z } from 'zod';
import { HttpsUrl } from '../../platform/http/https-url.ts';
import { Text, Timestamp, Uuid } from '../../platform/http/schemas.ts';
import { consent } from '../publications/publication-kind.ts';
import { FreeText, FreeTexts, PortableFixture, RelativePath, Sha256 } from './fixture.ts';

const PACKET_SCHEMA = 'service.context-packet.v1';

/** Maximum size of a packet as compact JSON, in bytes. */
export const MAX_PACKET_BYTES = 256 * 1024;

/** Requires milliseconds in the OpenAPI document, since `format: date-time` alone does not. */
const MILLISECONDS = '^.{19}\\.\\d{3}Z$';

const HandoffContent = z.strictObject({
  objective: FreeText,
  acceptance_criteria: FreeTexts,
  attribution: z
    .record(FreeText, FreeText)
    .refine((record) => Object.keys(record).length <= 200, 'must have at most 200 members')
    .meta({ maxProperties: 200 }),
  author_example: FreeText,
  baseline_inputs: z.strictObject({
    artifact_files: z.array(RelativePath).max(200),
    handoff_json: FreeText,
    input_origin: FreeText,
    operation_ledger: RelativePath,
  }),
  portable_fixture: PortableFixture,
  saved_cursor_return_path: z.strictObject({ instruction: FreeText, scope: FreeText }),
  scope: z.strictObject({ authorization_boundary: FreeText, mode: FreeText, permitted: FreeTexts }),
});

const BriefContent = z.strictObject({
  body: Text(1, 20_000),
  format: z.enum(['text', 'markdown']),
});

const ResultContent = z.strictObject({
  outcome: Text(1, 4000),
  evidence: z
    .array(
      z.strictObject({
        description: Text(1, 4000),
        sha256: Sha256.optional(),
        source_ref: HttpsUrl.optional(),
      }),
    )
    .max(50),
});

const common = {
  schema: z.literal(PACKET_SCHEMA),
  title: Text(1, 160),
  summary: Text(1, 2000),
  ...consent,
  reuse_terms: Text(1, 500),
  supersedes_id: Uuid.nullable(),
  provenance: z.strictObject({
    claim_type: Text(1, 160),
    observed_at: Timestamp.meta({ override: { pattern: MILLISECONDS } }).nullable(),
    source_refs: z.array(HttpsUrl).max(50),
  }),
};

const Handoff = z
  .strictObject({ ...common, kind: z.literal('handoff'), content: HandoffContent })
  .meta({ id: 'HandoffPacket' });
const Brief = z
  .strictObject({ ...common, kind: z.literal('brief'), content: BriefContent })
  .meta({ id: 'BriefPacket' });
const Result = z
  .strictObject({ ...common, kind: z.literal('result'), content: ResultContent })
  .meta({ id: 'ResultPacket' });

/** A context packet. `kind` selects the schema, so that issues name the invalid field. */
export const Packet = z
  .discriminatedUnion('kind', [Handoff, Brief, Result])
  .refine(
    (packet) => Buffer.byteLength(JSON.stringify(packet)) <= MAX_PACKET_BYTES,
    `must have at most ${MAX_PACKET_BYTES} bytes as compact JSON`,
  )
  .meta({ id: 'Packet' });
export type Packet = z.output<typeof Packet>;
