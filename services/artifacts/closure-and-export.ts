import { z } from 'zod';
import { ARTIFACT_KINDS } from '../../domain/artifacts/words.ts';
import { memberOwner } from '../../domain/owners.ts';
import { type Append, attribute } from '../../platform/eventstore/append.ts';
import { AnyUuid } from '../../platform/http/schemas.ts';
import { parseJson } from '../../platform/json.ts';
import { isRefusal } from '../../platform/refusal.ts';
import {
  artifactsOfMember,
  type OpenArtifactRow,
  type OwnArtifactRow,
  openArtifactsOfMember,
} from '../../projections/artifacts/artifacts.ts';
import { defineAccountClosure } from '../account-closure.ts';
import { exportSection, ToldDecision } from '../export-section.ts';
import { dropLeases } from '../publications/review-leases.ts';
import { artifactStreams } from './artifact-stream.ts';
import { Artifact } from './contract.ts';
import { Sha256 } from './fixture.ts';
import { Packet } from './packet.ts';

/**
 * Withdraws all packets when their author's account is closed. `rows`, loaded while the member is
 * locked, include removed packets, so that they cannot be restored.
 */
export const closeArtifacts = (memberId: string, rows: readonly OpenArtifactRow[]): Append[] =>
  rows.flatMap(({ artifact_id: artifactId, version }) => {
    // Whether it is removed or superseded makes no difference to a withdrawal.
    const status = 'published' as const;
    const open = { artifactId, authorId: memberId, supersededBy: null, told: false, status };
    const withdrawn = artifactStreams
      .at(memberOwner(memberId), artifactId, version, { ...open, version })
      .decide({ type: 'WithdrawArtifact', authorId: memberId, reason: 'deactivated' });
    if (isRefusal(withdrawn)) throw new Error(`artifact ${artifactId}: ${withdrawn.refused}`);
    return attribute(withdrawn.appends, { type: 'member', id: memberId });
  });

export const artifactsClosure = defineAccountClosure({
  load: (memberId, _request, limit) => openArtifactsOfMember(memberId, limit),
  close: closeArtifacts,
  rows: (_memberId, rows) => [
    dropLeases(
      'artifact',
      rows.map(({ artifact_id }) => artifact_id),
    ),
  ],
});

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
