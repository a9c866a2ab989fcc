import { artifact } from '../../domain/artifacts/artifact.ts';
import { replay } from '../../platform/eventstore/decider.ts';
import { artifactRecords, recordAuthors } from '../../projections/publications/records.ts';
import { noMembers, type PublicationKind } from '../publications/publication-kind.ts';

export const artifactKind: PublicationKind = {
  type: 'artifact',
  stream: (id) => `artifact-${id}`,
  records: artifactRecords,
  members: (id) => recordAuthors(artifactRecords([id])),
  concerned: noMembers,
  decide: (facts, command) => artifact.decide(replay(artifact, facts), command),
};
