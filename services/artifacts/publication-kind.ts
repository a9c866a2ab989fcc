import { artifact } from '../../domain/artifacts/artifact.ts';
import { artifactRecords, recordAuthors } from '../../projections/publications/records.ts';
import { noMembers, type PublicationKind } from '../publications/publication-kind.ts';

export const artifactKind: PublicationKind = {
  type: 'artifact',
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
