import { provableKind } from '../publications/provable-record.ts';
import { artifactKind } from './publication-kind.ts';

export const provableArtifact = provableKind(artifactKind, {
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
});
