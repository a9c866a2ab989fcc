import { type ArtifactRow, artifactsOfMember } from '../../projections/artifacts.ts';
import { exportSection } from '../export-section.ts';
import { parseJson } from '../json-text.ts';

export const artifactsSection = exportSection<ArtifactRow & { place: string }>({
  name: 'artifacts',
  // A packet has up to 256 KiB.
  batch: 8,
  after: (memberId, last, limit) =>
    artifactsOfMember(memberId, limit, last && { at: last.place, id: last.artifact_id }),
  entry: ({ artifact_id, kind, content_hash, packet, supersedes_id, state, created_at }) => ({
    id: artifact_id,
    kind,
    content_hash,
    packet: packet === null ? null : parseJson(packet),
    supersedes_id,
    state,
    created_at: created_at.toISOString(),
  }),
});
