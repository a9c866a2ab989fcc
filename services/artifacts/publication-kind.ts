import { artifact } from '../../domain/artifacts/artifact.ts';
import * as events from '../../domain/artifacts/events.ts';
import { artifactRecords } from '../../projections/artifacts/artifacts.ts';
import { defineRecordEvents } from '../../projections/publications/record-events.ts';
import { recordAuthors } from '../../projections/publications/records.ts';
import { noMembers, type PublicationKind, provableKind } from '../publications/publication-kind.ts';

export const artifactKind: PublicationKind = {
  type: 'artifact',
  events: defineRecordEvents(events, {
    removed: 'ArtifactRemoved',
    restored: 'ArtifactRestored',
    notified: 'ArtifactRemovalTold',
    withdrawn: 'ArtifactWithdrawn',
    seen: ['ArtifactPublished', 'ArtifactWithdrawn'],
    idOf: ({ data }) => data.artifact_id,
  }),
  stream: (id) => `artifact-${id}`,
  records: artifactRecords,
  tables: ['artifacts'],
  members: (id) => recordAuthors(artifactRecords([id])),
  concerned: noMembers,
  decide: ({ row, status, version, told }, command) =>
    artifact.decide(
      {
        status,
        version,
        told,
        artifactId: row.subject_id,
        authorId: row.author_id,
        supersededBy: null,
      },
      command,
    ),
};

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
