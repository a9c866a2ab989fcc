import { replay } from '../../platform/eventstore/decider.ts';
import { artifactRecords, authorsOf } from '../../projections/publications/records.ts';
import { nobody, type Subject } from '../publications/publication-kind.ts';
import { artifact } from './artifact.ts';

export const artifactSubject: Subject = {
  type: 'artifact',
  stream: (id) => `artifact-${id}`,
  records: artifactRecords,
  members: (id) => authorsOf(artifactRecords([id])),
  concerned: nobody,
  decide: (facts, command) => artifact.decide(replay(artifact, facts), command),
};
