import { artifactsOfMember, type OwnArtifactRow } from '../../projections/artifacts.ts';
import { exportSection } from '../export-section.ts';
import { parseJson } from '../json-text.ts';

export const artifactsSection = exportSection<OwnArtifactRow>({
  name: 'artifacts',
  // A packet has up to 256 KiB.
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
});
