import { z } from 'zod';
import { ARTIFACT_KINDS } from '../../domain/artifacts/artifact-kind.ts';
import { AnyUuid } from '../../platform/http/schemas.ts';
import { parseJson } from '../../platform/json.ts';
import { artifactsOfMember, type OwnArtifactRow } from '../../projections/artifacts/artifacts.ts';
import { exportSection, ToldDecision } from '../membership/export-section.ts';
import { Artifact } from './contract.ts';
import { Sha256 } from './fixture.ts';
import { Packet } from './packet.ts';

export const artifactsSection = exportSection<OwnArtifactRow>({
  name: 'artifacts',
  // A packet can have 256 KiB, so a batch stays below about 2 MiB.
  batch: 8,
  after: (memberId, last, limit, undoSeconds) =>
    artifactsOfMember(
      memberId,
      limit,
      last && { at: last.place, id: last.artifact_id },
      undoSeconds,
    ),
  entry: ({
    artifact_id,
    kind,
    content_hash,
    packet,
    supersedes_id,
    state,
    decision,
    created_at,
  }) => ({
    id: artifact_id,
    kind,
    content_hash,
    packet: packet === null ? null : parseJson(packet),
    supersedes_id,
    state,
    decision,
    created_at: created_at.toISOString(),
  }),
  schema: Artifact.omit({ author_id: true })
    .extend({
      kind: z.enum(ARTIFACT_KINDS),
      content_hash: Sha256.nullable(),
      packet: Packet.nullable(),
      supersedes_id: AnyUuid.nullable(),
      state: z.enum(['published', 'withdrawn', 'removed']),
      decision: ToldDecision,
    })
    .meta({ id: 'ExportedArtifact' }),
});
