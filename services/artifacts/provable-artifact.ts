import { artifactRecords, publicOwners } from '../../projections/publications/records.ts';
import type { ProvableRecord } from '../publications/provable-record.ts';
import { artifactKind } from './publication-kind.ts';

export const provableArtifact: ProvableRecord = {
  type: artifactKind.type,
  owner: (id) => publicOwners(artifactRecords([id])),
  stream: artifactKind.stream,
  events: {
    ArtifactPublished: [
      'data.artifact_id',
      'data.author_id',
      'data.kind',
      'data.supersedes_id',
      'data.policy_version',
      'personal.title',
      'personal.content_hash',
      'personal.packet',
    ],
  },
};
